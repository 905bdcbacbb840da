/**
 * What happens to a deposit notice inside its client's turn: filed by the partner behind the gates of document 3 (A3-02),
 * confirmed or rejected by finance (D9; A3-04..A3-06). Pure but for the turn's draft and ids.
 */
import { moneyRestriction } from "../../../machines/client/Restriction.ts"
import { depositMachine } from "../../../machines/deposit/depositMachine.ts"
import {
  type DepositContext,
  type DepositNotice,
  type DepositStatus,
  noticeOf
} from "../../../machines/deposit/DepositNotice.ts"
import type { DepositRequest } from "../../../machines/deposit/DepositRequest.ts"
import type { JsonObject, MachineEffect } from "../../../machines/Effects.ts"
import type { Currency } from "../../../machines/shared/Currency.ts"
import { formatAmount, maxMinor } from "../../../machines/shared/Money.ts"
import type { MoneyDecider } from "../../../machines/shared/MoneyRequest.ts"
import { accept, conflict, refuse, type Verdict } from "../../../machines/shared/Refusal.ts"
import { depositUnit, depositValue, unvaluedDeposit } from "../../../machines/verification/depositValue.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { begin, type Decision, step, versionOf } from "../../engine/machine/decide.ts"
import { applyEffects } from "../../effects/Interpreter.ts"
import { balanceOf, cashAtMost } from "../../ledger/Ledger.ts"
import type { DepositNoticeRow } from "../../store/depositTables.ts"
import type { ClientRow } from "../../store/Rows.ts"
import { shardOf } from "../../store/shard.ts"
import { clientContext, instanceOf } from "../client/clientState.ts"
import { type DepositFacts, depositGates, tooLarge } from "./depositGates.ts"
import type { PartnerView } from "../partner/Directory.ts"
import { firstRefusal } from "../money/moneyGates.ts"

type Deposit = Decision<typeof depositMachine>

export const wireNotice = (row: DepositNoticeRow): DepositNotice =>
  noticeOf(row.context as unknown as DepositContext, row.state as DepositStatus)

/** The unique fact of a reference: one name space per partner, apart from withdrawals and collateral (A3-01). */
export const depositClaim = (partnerId: number, partnerRef: string): string => `deposit:${partnerId}:${partnerRef}`

export interface Filing extends DepositFacts {
  readonly partner: PartnerView
}

/** A fresh reference: the gates after it, then the notice; of a sandbox partner it is decided in the same step (A3-06). */
export const fileDeposit = (filing: Filing): Verdict<DepositNotice> => {
  const { turn, client, partner, request } = filing
  const refusal = firstRefusal(depositGates, filing)
  if (refusal !== null) return refuse(refusal)
  const noticeId = turn.nextId("deposit")
  const filed = begin(depositMachine, {
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
  })
  const decided = partner.row.sandbox ? confirmed(turn, filed, "PARTNER", null, null) : null
  turn.draft.claim(depositClaim(client.partnerId, request.partnerRef), noticeId)
  const row = rowOf(client, request, decided ?? filed)
  putNotice(turn, row, client, partner, [...filed.effects, ...(decided?.effects ?? [])])
  return accept(wireNotice(row))
}

/** Finance's word on a PENDING notice. A confirmation that can't be booked now leaves it PENDING (A3-05). */
export const decideDeposit = (
  turn: Turn,
  row: DepositNoticeRow,
  client: ClientRow,
  partner: PartnerView,
  decision: DepositOrder
): Verdict<DepositNotice> => {
  const stored = { state: row.state, context: row.context as unknown as DepositContext }
  const refusal = decision.to === "CONFIRMED" ? confirmRefusal(turn, row, client, partner) : null
  const decided =
    decision.to === "CONFIRMED"
      ? confirmed(turn, stored, decision.by, decision.note, refusal)
      : step(depositMachine, stored, { type: "REJECT", at: turn.now, by: decision.by, reason: decision.reason })
  if (!decided.changed) return refuse(conflict(refusal ?? "This deposit notice is decided already."))
  const next: DepositNoticeRow = {
    ...row,
    state: decided.state,
    version: versionOf("depositNotice"),
    context: decided.context as unknown as JsonObject,
    decidedAt: decided.context.decidedAt
  }
  putNotice(turn, next, client, partner, decided.effects)
  return accept(wireNotice(next))
}

/** What finance decides. */
export type DepositOrder =
  | { readonly to: "CONFIRMED"; readonly by: MoneyDecider; readonly note: string | null }
  | { readonly to: "REJECTED"; readonly by: MoneyDecider; readonly reason: string }

/** The answer about a notice decided before: the same decision again shows it, the other one is refused (A3-04). */
export const repeatedDecision = (row: DepositNoticeRow, to: DepositOrder["to"]): Verdict<DepositNotice> =>
  row.state === to
    ? accept(wireNotice(row))
    : refuse(
        conflict(`This deposit notice is ${row.state} already.`, { notice: wireNotice(row) as unknown as JsonObject })
      )

const confirmed = (
  turn: Turn,
  stored: Pick<Deposit, "state" | "context">,
  by: MoneyDecider,
  note: string | null,
  refusal: string | null
): Deposit =>
  step(depositMachine, stored, {
    type: "CONFIRM",
    at: turn.now,
    by,
    note,
    refusal,
    ledgerTxId: turn.nextId("transaction")
  })

const rowOf = (client: ClientRow, request: DepositRequest, { state, context }: Deposit): DepositNoticeRow => ({
  id: context.noticeId,
  partnerId: client.partnerId,
  clientId: client.id,
  shard: shardOf(client.id),
  state,
  version: versionOf("depositNotice"),
  context: context as unknown as JsonObject,
  currency: request.currency,
  amount: request.amount,
  createdAt: context.createdAt,
  decidedAt: context.decidedAt
})

const putNotice = (
  turn: Turn,
  row: DepositNoticeRow,
  client: ClientRow,
  partner: PartnerView,
  effects: ReadonlyArray<MachineEffect>
): void => {
  turn.draft.put("depositNotices", row)
  const { ledgerTxId } = row.context as unknown as DepositContext
  const instance = { ...instanceOf(client, partner), object: `depositNotice:${row.id}` as const }
  applyEffects(turn, ledgerTxId === null ? instance : { ...instance, txId: ledgerTxId }, effects)
  const currency = row.currency as Currency
  if (row.state === "CONFIRMED" && depositUnit(currency) === null)
    applyEffects(turn, instance, [unvaluedNote(currency)])
}

/** A deposit that no mark values is booked at the threshold itself, which somebody may have to explain later (F25). */
const unvaluedNote = (currency: Currency): MachineEffect => ({
  type: "audit",
  action: "deposit.unvalued",
  before: null,
  after: `${formatAmount(unvaluedDeposit, "USDC")} USDC`,
  reason: `${currency} has no value known to the service: the deposit counts as reaching the threshold of the source of wealth.`
})

/** What stands against crediting the client now, as a sentence. */
const confirmRefusal = (turn: Turn, row: DepositNoticeRow, client: ClientRow, partner: PartnerView): string | null => {
  if (client.state === "CLOSED") return "The account is closed."
  if (partner.row.custodyModel !== "BROKER") return "The partner is under PARTNER custody."
  const restricted = moneyRestriction("DEPOSIT", clientContext(client).restrictions)
  if (restricted !== null) return restricted
  const currency = row.currency as Currency
  return fits(turn, client, currency, row.amount, depositValue(currency, row.amount)) ? null : tooLarge
}

/** Whether cash at most and lifetime deposits stay inside 64 bits (F2). */
const fits = (turn: Turn, client: ClientRow, currency: Currency, amount: bigint, value: bigint): boolean => {
  const balance = balanceOf(turn, client.id, client.partnerId, currency)
  return cashAtMost(turn.state, balance) + amount <= maxMinor && balance.deposited + value <= maxMinor
}
