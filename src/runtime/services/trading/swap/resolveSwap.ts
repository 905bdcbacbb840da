/**
 * Ends swaps by staff with the venue's evidence, in the client's turn: a take for which the venue gives no answer, and
 * a take or a swap with a standing misfit. The consequences are those of a venue report. The evidence of a take lacks
 * the id of the contract; the venue's next report adds it (A2-115, A2-116).
 */
import { formatAmount, minorOf, MoneyDecimal, parsePositiveAmount } from "../../../../machines/shared/Money.ts"
import { holdingMark, valueAt } from "../../../../machines/market/holdingMark.ts"
import { accept, invalidFields, type Refusal, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { swapRef } from "../../../../machines/swap/Swap.ts"
import { dayMillis, swapReward } from "../../../../machines/swap/swapFigures.ts"
import type { VenueSwap } from "../../../../machines/venue/swapAtVenue.ts"
import type { OwnedTurn } from "../../../effects/Instance.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../../engine/mailbox/SubjectState.ts"
import type { SwapRow } from "../../../tables/swap.ts"
import { breakOfClient, openedBreak } from "../../money/breaks/clientBreaks.ts"
import type { Execution, ResolvedState } from "../rfq/resolveDecisions.ts"
import { endMisfits } from "../../venue/misfits.ts"
import { endCall } from "../../venue/outcomes.ts"
import { noteResolved, unlessUnknown } from "../../venue/resolved.ts"
import type { DefiniteOutcome, VenueHandlers } from "../../venue/VenueHandler.ts"
import { assetOf, stepSwap, swapInTurn } from "./swapDecisions.ts"

/** The refusal of a resolution; null: staff can resolve the take or the swap. */
export const takeRefusal = (state: SubjectState, { id }: Pick<SwapRow, "id">): Refusal | null =>
  unlessUnknown(state, swapRef(id), `swap:${id}`)

/**
 * Ends an unanswered take as never received by the venue, and releases its reserve at once. For any other take or swap
 * it voids only the report: nothing of it is booked.
 */
export const resolveTakeVoid = (
  owned: OwnedTurn,
  handlers: VenueHandlers,
  row: SwapRow,
  reason: string
): Verdict<ResolvedState> => {
  const { turn } = owned
  const refusal = takeRefusal(turn.state, row)
  if (refusal !== null) return refuse(refusal)
  noteResolved(owned, `swap:${row.id}`, row.state, reason)
  if (row.state === "ACCEPTING") {
    endTake(turn, handlers, row, { outcome: "VOID", reason, swap: null })
    const missed = swapInTurn(turn, row.id) ?? row
    stepSwap(owned, missed, { type: "RELEASE", at: turn.now })
  }
  endMisfits(turn, [`swap:${row.id}`])
  return accept({ state: stateOf(owned, row), breakId: null })
}

/**
 * Ends a take as executed. A quantity smaller than that of the take opens a break. For a swap that was already taken,
 * the evidence is that of one payment; an amount above the outstanding one opens a break.
 */
export const resolveTakeExecuted = (
  owned: OwnedTurn,
  handlers: VenueHandlers,
  row: SwapRow,
  { reason, tradeId, qty }: Pick<Execution, "tradeId" | "qty"> & { readonly reason: string }
): Verdict<ResolvedState> => {
  const { turn } = owned
  const refusal = takeRefusal(turn.state, row)
  if (refusal !== null) return refuse(refusal)
  const { notional } = row.context
  const taken = parsePositiveAmount(qty, assetOf(row))
  if (typeof taken === "string") return refuse(invalidFields({ qty: taken }))
  if (row.context.contractId !== null) return resolvePaid(owned, handlers, row, { reason, tradeId, qty })
  if (new MoneyDecimal(qty).gt(notional)) {
    return refuse(invalidFields({ qty: `Only ${notional} was asked for.` }))
  }
  noteResolved(owned, `swap:${row.id}`, row.state, reason)
  const swap = swapOf(turn.now, row, { tradeId, qty })
  endTake(turn, handlers, row, { outcome: "EXECUTED", reason, swap })
  const asset = assetOf(row)
  const less = minorOf(notional, asset) - minorOf(qty, asset)
  const mark = holdingMark(asset, turn.facts)
  const value = mark === null ? 0n : valueAt(asset, less, mark)
  const sentence = `swap:${row.id} was resolved at ${formatAmount(less, asset)} ${asset} less than was asked for.`
  return accept({
    state: stateOf(owned, row),
    breakId: value === 0n ? null : breakOfClient(turn, row, value, sentence)
  })
}

const resolvePaid = (
  owned: OwnedTurn,
  handlers: VenueHandlers,
  row: SwapRow,
  { reason, tradeId, qty }: Pick<Execution, "tradeId" | "qty"> & { readonly reason: string }
): Verdict<ResolvedState> => {
  const { turn } = owned
  const { fee, notional, payments } = row.context
  if (tradeId === row.context.tradeId)
    return refuse(invalidFields({ tradeId: `Trade ${tradeId} is the take, no payment.` }))
  if (payments.some(({ id }) => id === tradeId))
    return refuse(invalidFields({ tradeId: `Payment ${tradeId} is booked already.` }))
  noteResolved(owned, `swap:${row.id}`, row.state, reason)
  const taken = swapOf(turn.now, row, { tradeId: row.context.tradeId ?? 0, qty: notional })
  const swap = { ...taken, fee, payments: [{ id: tradeId, amount: qty, at: turn.now }] }
  endTake(turn, handlers, row, { outcome: "EXECUTED", reason, swap })
  return accept({ state: stateOf(owned, row), breakId: openedBreak(turn) })
}

/** Ends the call of the take by the evidence of staff, which has been checked before. */
const endTake = (
  turn: Turn,
  handlers: VenueHandlers,
  { id }: SwapRow,
  evidence: Pick<DefiniteOutcome, "outcome" | "reason" | "swap">
): void => {
  const report = { ref: swapRef(id), at: turn.now, order: null, rfq: null, contract: null, ...evidence }
  endCall(turn, handlers, report, { isTrusted: true })
}

/** Builds the venue's report of the executed swap. Id 0: the venue's contract id is not known yet. */
const swapOf = (now: number, { context }: SwapRow, { tradeId, qty }: Pick<Execution, "tradeId" | "qty">): VenueSwap => {
  const { swapId, account, asset, symbol, offerId, rateBps, tenorDays } = context
  return {
    id: 0,
    ref: swapRef(swapId),
    account,
    symbol,
    offerId,
    tradeId,
    notional: qty,
    rateBps,
    tenorDays,
    reward: formatAmount(swapReward(minorOf(qty, asset), rateBps, tenorDays), asset),
    fee: context.estimatedFee,
    openedAt: now,
    maturityAt: now + tenorDays * dayMillis,
    corrections: [],
    payments: [],
    short: false,
    end: null
  }
}

const stateOf = ({ turn }: OwnedTurn, row: SwapRow): string => swapInTurn(turn, row.id)?.state ?? row.state
