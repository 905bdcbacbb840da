/**
 * Decisions on a deposit notice inside its client's turn: filed by the partner behind the published gates (A3-02),
 * confirmed or rejected by finance (D9; A3-04..A3-06). Pure except for the turn's draft and ids.
 */
import { moneyRestriction, restrictionReasons } from "../../../../machines/client/Restriction.ts"
import { type DepositNotice, noticeOf } from "../../../../machines/deposit/DepositNotice.ts"
import type { MachineEffect } from "../../../../machines/Effects.ts"
import { holdingMark } from "../../../../machines/market/holdingMark.ts"
import type { Currency } from "../../../../machines/shared/Currency.ts"
import { formatAmount, maxMinor } from "../../../../machines/shared/Money.ts"
import type { MoneyDecider } from "../../../../machines/shared/MoneyBody.ts"
import { accept, conflict, type Conflict, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { depositValue, unvaluedDeposit } from "../../../../machines/verification/depositValue.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import { balanceOf, cashAtMost } from "../../../ledger/Ledger.ts"
import type { DepositNoticeRow } from "../../../tables/deposit.ts"
import type { ClientRow } from "../../../tables/client.ts"
import { shardOf } from "../../../store/shard.ts"
import { clientContext, instanceOf } from "../../account/clientState.ts"
import { type DepositFacts, depositGates, tooLarge } from "./depositGates.ts"
import type { PartnerView } from "../../partners/Directory.ts"
import { firstRefusal } from "../../../../machines/shared/Gates.ts"
import type { Instance } from "../../../effects/Instance.ts"
import { advance, objectName, start } from "../../../effects/advance.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import { referenceClaim } from "../../../tables/Catalogue.ts"

export const wireNotice = (row: DepositNoticeRow): DepositNotice => noticeOf(row.context, row.state)

/** The unique fact of a reference: one namespace per partner, apart from withdrawals and collateral (A3-01). */
export const depositClaim = (partnerId: number, partnerRef: string): string =>
  referenceClaim("depositNotices", partnerId, partnerRef)

export interface Filing extends DepositFacts {
  readonly partner: PartnerView
}

/**
 * Decides on a new reference: runs the remaining gates, then files the notice. A sandbox partner's notice is decided in
 * the same step (A3-06).
 */
export const fileDeposit = (filing: Filing): Verdict<DepositNotice> => {
  const { turn, client, partner, request } = filing
  const refusal = firstRefusal(depositGates, filing)
  if (refusal !== null) return refuse(refusal)
  const noticeId = turn.nextId("deposit")
  turn.draft.claim(depositClaim(client.partnerId, request.partnerRef), noticeId)
  const of = instanceOf(client, partner)
  const filed = start(turn, "depositNotices", {
    of,
    input: {
      noticeId,
      partnerId: client.partnerId,
      clientId: client.id,
      clientUid: client.uid,
      partnerRef: request.partnerRef,
      currency: request.currency,
      amount: formatAmount(request.amount, request.currency),
      method: request.method,
      evidenceRef: request.evidenceRef,
      createdAt: turn.now
    },
    columns: {
      id: noticeId,
      partnerId: client.partnerId,
      clientId: client.id,
      shard: shardOf(client.id),
      currency: request.currency,
      amount: request.amount,
      createdAt: turn.now
    }
  })
  if (!partner.row.sandbox) return accept(wireNotice(filed))
  const confirmed = moved(turn, filed, of, { to: "CONFIRMED", by: "PARTNER", note: null }, null)
  if (confirmed === null) throw new Error("a deposit notice of a sandbox refused to be confirmed")
  return accept(wireNotice(confirmed))
}

/** Applies finance's ruling to a PENDING notice. A confirmation that can't be booked now leaves it PENDING (A3-05). */
export const ruleOnDeposit = (
  turn: Turn,
  row: DepositNoticeRow,
  client: ClientRow,
  partner: PartnerView,
  ruling: DepositRuling
): Verdict<DepositNotice> => {
  const refusal = ruling.to === "CONFIRMED" ? confirmRefusal(turn, row, client, partner) : null
  const next = moved(turn, row, instanceOf(client, partner), ruling, refusal)
  return next === null
    ? refuse(refusal ?? conflict("DECIDED_ALREADY", "This deposit notice is decided already."))
    : accept(wireNotice(next))
}

/**
 * The notice after a ruling; null: its state does not accept the ruling. A confirmation carries the transaction id of
 * its posting, so the id is drawn before the step.
 */
const moved = (
  turn: Turn,
  row: DepositNoticeRow,
  of: Instance,
  ruling: DepositRuling,
  refused: Conflict | null
): DepositNoticeRow | null => {
  const { now: at } = turn
  if (ruling.to === "REJECTED") {
    const { by, reason } = ruling
    return advance(turn, "depositNotices", row, { type: "REJECT", at, by, reason }, { of })
  }
  const { by, note } = ruling
  const ledgerTxId = turn.nextId("transaction")
  const refusal = refused?.sentence ?? null
  const event = { type: "CONFIRM", at, by, note, refusal, ledgerTxId } as const
  const next = advance(turn, "depositNotices", row, event, { of: { ...of, txId: ledgerTxId } })
  const currency = row.currency as Currency
  if (next !== null && holdingMark(currency, turn.facts) === null) {
    applyEffects(turn, { ...of, object: objectName("depositNotices", next) }, [unvaluedNote(currency)])
  }
  return next
}

/**
 * The audit entry for a deposit in a currency without a mark: the deposit counts as the whole threshold, and the entry
 * keeps the reason (F25).
 */
const unvaluedNote = (currency: Currency): MachineEffect => ({
  type: "audit",
  action: "deposit.unvalued",
  before: null,
  after: `${formatAmount(unvaluedDeposit, "USDC")} USDC`,
  reason: `${currency} has no value known to the service: the deposit counts as reaching the threshold of the source of wealth.`
})

/** Finance's ruling on a deposit notice: a confirmation with an optional note, or a rejection with its reason. */
export type DepositRuling =
  | { readonly to: "CONFIRMED"; readonly by: MoneyDecider; readonly note: string | null }
  | { readonly to: "REJECTED"; readonly by: MoneyDecider; readonly reason: string }

/** The reply for a decided notice: the same ruling again returns the notice, the opposite one is refused (A3-04). */
export const repeatedRuling = (row: DepositNoticeRow, to: DepositRuling["to"]): Verdict<DepositNotice> =>
  row.state === to
    ? accept(wireNotice(row))
    : refuse(conflict("DECIDED_ALREADY", `This deposit notice is ${row.state} already.`, { notice: wireNotice(row) }))

/** Why the client can't be credited now; null when it can. */
const confirmRefusal = (
  turn: Turn,
  row: DepositNoticeRow,
  client: ClientRow,
  partner: PartnerView
): Conflict | null => {
  if (client.state === "CLOSED") return conflict("ACCOUNT_CLOSED", "The account is closed.")
  if (partner.row.custodyModel !== "BROKER") {
    return conflict("PARTNER_CUSTODY", "The partner is under PARTNER custody.")
  }
  const restricted = moneyRestriction("DEPOSIT", clientContext(client).restrictions)
  if (restricted !== null) return conflict(restrictionReasons[restricted], restricted)
  const currency = row.currency as Currency
  return fits(turn, client, currency, row.amount, depositValue(currency, row.amount, turn.facts))
    ? null
    : conflict("AMOUNT_TOO_LARGE", tooLarge)
}

/** True if maximal cash and lifetime deposits stay inside 64 bits (F2). */
const fits = (turn: Turn, client: ClientRow, currency: Currency, amount: bigint, value: bigint): boolean => {
  const balance = balanceOf(turn, client.id, client.partnerId, currency)
  return cashAtMost(turn.state, balance) + amount <= maxMinor && balance.deposited + value <= maxMinor
}
