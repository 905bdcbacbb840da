/**
 * Decisions on a withdrawal request inside its client's turn: filed behind the published gates (A3-02), approved
 * behind the money-out gate, paid, rejected or cancelled (D10; A3-06, A3-08, A3-12). Pure except for the turn's draft
 * and ids.
 */
import type { Currency } from "../../../../machines/shared/Currency.ts"
import { formatAmount } from "../../../../machines/shared/Money.ts"
import type { MoneyDecider } from "../../../../machines/shared/MoneyBody.ts"
import { accept, conflict, refuse, type Refusal, type Verdict } from "../../../../machines/shared/Refusal.ts"
import {
  type FreeMoney,
  moneyOutReasons,
  moneyOutRefusal,
  moneyOutSentences
} from "../../../../machines/withdrawal/moneyOut.ts"
import {
  requestOf,
  type WithdrawalEvent,
  type WithdrawalRequest,
  type WithdrawalStatus
} from "../../../../machines/withdrawal/WithdrawalRequest.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import { rowsInTurn } from "../../../engine/mailbox/turnRows.ts"
import type { Sealing } from "../../../engine/sealing/Sealing.ts"
import { destinationFingerprint, showsFiledDestination } from "../../../ledger/withdrawalDestinations.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { CloseOutRow } from "../../../tables/margin.ts"
import type { WithdrawalRow } from "../../../tables/withdrawal.ts"
import { shardOf } from "../../../store/shard.ts"
import { accountInTurn, type AccountNow } from "../../account/accountNow.ts"
import { clientContext, instanceOf } from "../../account/clientState.ts"
import { standsBehind } from "../writeOffRepayment.ts"
import type { PartnerView } from "../../partners/Directory.ts"
import { firstRefusal } from "../../../../machines/shared/Gates.ts"
import { type WithdrawalFacts, withdrawalGates } from "./withdrawalGates.ts"
import { advance, start } from "../../../effects/advance.ts"
import { referenceClaim } from "../../../tables/Catalogue.ts"

/**
 * The claim on a reference, so that only one request uses it. Withdrawals have their own references, apart from deposits
 * and collateral (A3-01).
 */
export const withdrawalClaim = (partnerId: number, partnerRef: string): string =>
  referenceClaim("withdrawalRequests", partnerId, partnerRef)

export const wireRequest = (row: WithdrawalRow): WithdrawalRequest => requestOf(row.context, row.state, row.destination)

export type Fingerprints = Pick<Sealing, "fingerprint">

export interface ClientTurn {
  readonly turn: Turn
  readonly client: ClientRow
  readonly partner: PartnerView
}

/** The figures for the money-out gate: the client's cash in a currency, and the risk of the whole account. */
export const freeMoney = ({ cashOf, risk, recorded }: AccountNow, currency: Currency): FreeMoney => ({
  currency,
  cash: cashOf(currency),
  risk,
  recorded
})

export interface WithdrawalFiling extends WithdrawalFacts {
  readonly partner: PartnerView
  readonly sealing: Fingerprints
  /** True if an open reconciliation break pauses the client's withdrawals. */
  readonly paused: boolean
}

/**
 * Decides on a new reference: runs the remaining gates, then files the request. A sandbox partner's request is paid in
 * the same turn (A3-06).
 */
export const fileWithdrawal = (filing: WithdrawalFiling): Verdict<WithdrawalRequest> => {
  const { turn, client, partner, request, sealing } = filing
  const refusal = firstRefusal(withdrawalGates, filing)
  if (refusal !== null) return refuse(refusal)
  const requestId = turn.nextId("withdrawal")
  turn.draft.claim(withdrawalClaim(client.partnerId, request.partnerRef), requestId)
  const row = start(turn, "withdrawalRequests", {
    of: instanceOf(client, partner),
    input: {
      requestId,
      partnerId: client.partnerId,
      clientId: client.id,
      clientUid: client.uid,
      partnerRef: request.partnerRef,
      currency: request.currency,
      amount: formatAmount(request.amount, request.currency),
      createdAt: turn.now,
      destinationFingerprint: destinationFingerprint(sealing, requestId, request.destination)
    },
    event: { type: "REQUEST", at: turn.now },
    columns: {
      id: requestId,
      partnerId: client.partnerId,
      clientId: client.id,
      shard: shardOf(client.id),
      currency: request.currency,
      amount: request.amount,
      destination: request.destination,
      createdAt: turn.now
    }
  })
  return accept(wireRequest(partner.row.sandbox ? payAtOnce(filing, row) : row))
}

/**
 * The sandbox approves and pays the request itself. A reason that would stop finance from approving stops the sandbox
 * too: then the request stays REQUESTED, and the developer can see it.
 */
const payAtOnce = (filing: WithdrawalFiling, row: WithdrawalRow): WithdrawalRow => {
  const approved = ruleOnWithdrawal(filing, row, { to: "APPROVED", by: "PARTNER", paused: filing.paused })
  if (!approved.ok) return row
  const paid = ruleOnWithdrawal(filing, approved.value, { to: "PAID" })
  if (!paid.ok) throw new Error("an approved withdrawal refused to be paid")
  return paid.value
}

/** A ruling on an open withdrawal request. Finance makes all of them except CANCELLED, which the partner makes. */
export type WithdrawalRuling =
  | { readonly to: "APPROVED"; readonly by: MoneyDecider; readonly paused: boolean }
  | { readonly to: "PAID" }
  | { readonly to: "REJECTED"; readonly by: MoneyDecider; readonly reason: string }
  /** The bank has finally refused the payment of an approved request, which ends as REJECTED. */
  | { readonly to: "FAILED"; readonly by: MoneyDecider; readonly reason: string }
  | { readonly to: "CANCELLED" }

/** Advances a request by one step. A refusal leaves the request and its reserve unchanged. */
export const ruleOnWithdrawal = (
  of: ClientTurn & { readonly sealing: Fingerprints },
  row: WithdrawalRow,
  ruling: WithdrawalRuling
): Verdict<WithdrawalRow> => {
  const paused = ruling.to === "APPROVED" && ruling.paused
  const episodes = rowsInTurn(of.turn, "closeOuts")
  const facts = { client: of.client, account: accountInTurn(of.turn, of.client), episodes, sealing: of.sealing }
  const refusal = rulingRefusal(facts, row, { to: ruling.to, paused })
  if (refusal !== null) return refuse(refusal)
  const event = eventOf(of.turn, ruling)
  const instance = instanceOf(of.client, of.partner)
  // Only the row of an approval has the transaction id of its posting. So the id is taken before the step and not by the
  // posting.
  const named = event.type === "APPROVE" ? { ...instance, txId: event.ledgerTxId } : instance
  const next = advance(of.turn, "withdrawalRequests", row, event, { of: named })
  if (next === null) throw new Error(`a withdrawal in ${row.state} refused ${ruling.to}`)
  return accept(next)
}

export interface RulingFacts {
  readonly client: ClientRow
  readonly account: AccountNow
  /** The client's close-outs, including ended ones with an unrepaid write-off. */
  readonly episodes: ReadonlyArray<CloseOutRow>
  readonly sealing: Fingerprints
}

/**
 * The refusal of a ruling; null if it can be carried out now. It is also checked before the approval of a second operator
 * key is requested.
 */
export const rulingRefusal = (
  { client, account, episodes, sealing }: RulingFacts,
  row: WithdrawalRow,
  { to, paused }: { readonly to: WithdrawalRuling["to"]; readonly paused: boolean }
): Refusal | null => {
  if (row.state !== fromOf[to]) return alreadyDecided(row)
  const other = destinationRefusal(sealing, row, to)
  if (other !== null || to !== "APPROVED") return other
  const { restrictions } = clientContext(client)
  // The amount is already reserved, so no further money has to be free. The free money must not be negative, and no
  // unrepaid write-off may have a claim on the amount (F10).
  const sentence =
    moneyOutRefusal({ ...freeMoney(account, row.currency as Currency), restrictions, paused }, 0n) ??
    (standsBehind(row, episodes) ? moneyOutSentences.insufficient : null)
  return sentence === null ? null : conflict(moneyOutReasons[sentence], sentence)
}

/** The refusal of a ruling that the request's present state does not allow any more; it names that state. */
export const alreadyDecided = (row: WithdrawalRow): Refusal =>
  conflict("DECIDED_ALREADY", `This withdrawal request is ${row.state}.`, { requestId: row.id, status: row.state })

/**
 * True if the request shows that this ruling was already made, so that the caller repeats it after a lost reply (as
 * for deposits, A3-04). The transaction of a REJECTED request shows whether it had been approved before.
 */
export const isRepeated = (row: WithdrawalRow, to: WithdrawalRuling["to"]): boolean => {
  switch (to) {
    case "REJECTED":
      return row.state === "REJECTED" && row.context.ledgerTxId === null
    case "FAILED":
      return row.state === "REJECTED" && row.context.ledgerTxId !== null
    case "APPROVED":
    case "PAID":
    case "CANCELLED":
      return row.state === to
  }
}

/**
 * The refusal to pay if the destination is not the one with which the request was filed, or if version 1 filed it and it
 * can't be verified. Null: the ruling moves no money, or the destination is genuine.
 */
export const destinationRefusal = (
  sealing: Fingerprints,
  row: WithdrawalRow,
  to: WithdrawalRuling["to"]
): Refusal | null => {
  if ((to !== "APPROVED" && to !== "PAID") || showsFiledDestination(sealing, row)) return null
  return conflict(
    "DESTINATION_CHANGED",
    "The destination of this withdrawal request is not the one it was filed with.",
    {
      requestId: row.id,
      status: row.state,
      destination: "NOT_AS_FILED"
    }
  )
}

/** True for the refusal by `destinationRefusal`. An operator must examine it at once, because a row was manipulated. */
export const isOtherDestination = (refusal: Refusal): boolean =>
  refusal._tag === "Conflict" && refusal.data?.["destination"] === "NOT_AS_FILED"

/** The state in which each ruling is accepted; in any other state it is refused (D10). */
export const fromOf: { readonly [T in WithdrawalRuling["to"]]: WithdrawalStatus } = {
  APPROVED: "REQUESTED",
  PAID: "APPROVED",
  REJECTED: "REQUESTED",
  FAILED: "APPROVED",
  CANCELLED: "REQUESTED"
}

const eventOf = (turn: Turn, ruling: WithdrawalRuling): WithdrawalEvent => {
  const at = turn.now
  switch (ruling.to) {
    case "APPROVED":
      return { type: "APPROVE", at, by: ruling.by, refusal: null, ledgerTxId: turn.nextId("transaction") }
    case "PAID":
      return { type: "PAY", at }
    case "REJECTED":
      return { type: "REJECT", at, by: ruling.by, reason: ruling.reason }
    case "FAILED":
      return { type: "FAIL", at, by: ruling.by, reason: ruling.reason }
    case "CANCELLED":
      return { type: "CANCEL", at }
  }
}
