/**
 * Applies outcomes of takes, venue reports and timers to staking swaps in their client's turn. Each venue report holds
 * the whole contract, so the next report replaces a lost one. Payments and corrections carry ids, so each applies once
 * (A2-111, A3-11, D8).
 */
import { formatAmount, minorOf, MoneyDecimal } from "../../../../machines/shared/Money.ts"
import { holdingMark, valueAt } from "../../../../machines/market/holdingMark.ts"
import type { Currency } from "../../../../machines/shared/Currency.ts"
import {
  overdueMillis,
  progressOfSwap,
  releaseMillis,
  type Taken,
  termsOfSwap
} from "../../../../machines/swap/Swap.ts"
import { partsOfPayment } from "../../../../machines/swap/swapFigures.ts"
import type { VenueSwap } from "../../../../machines/venue/swapAtVenue.ts"
import type { OwnedTurn } from "../../../effects/Instance.ts"
import { advance } from "../../../effects/advance.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import type { TimerHandler } from "../../../engine/timers/Timers.ts"
import type { SwapRow } from "../../../tables/swap.ts"
import { oneInTurn } from "../../../engine/mailbox/turnRows.ts"
import { accountInTurn } from "../../account/accountNow.ts"
import { ownedTurn } from "../../account/ownedTurn.ts"
import type { Directory } from "../../partners/Directory.ts"
import { breakOfClient } from "../../money/breaks/clientBreaks.ts"
import type { Recall } from "../../account/Recall.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import { refusalReason } from "../../../../machines/venue/venueCalls.ts"
import { swapMisfit } from "../../../../machines/venueChecks/swapChecks.ts"
import { type ObjectReport, reportsOther, type VenueHandler } from "../../venue/VenueHandler.ts"
import { judgedOn, type Verdict } from "../../venue/verdict.ts"
import type { VenueLink } from "../../venue/VenueLink.ts"
import { assetOf, stepSwap, swapInTurn } from "./swapDecisions.ts"

/** Limit on the payments of a swap that one turn books. */
const paymentsAtOnce = 32
/**
 * Shortest and longest pause before the next check of an overdue swap, business ms. Between these limits, the pause
 * is the time since the checkpoint of the venue's events last advanced.
 */
const shortestPause = 5_000
const longestPause = 600_000

export interface SwapParts {
  readonly directory: Directory["Service"]
  readonly recall: Recall
}

export const swapHandler = (parts: SwapParts): VenueHandler => ({
  verdict: (turn, report) => {
    const row = parts.recall.row(turn, "swaps", report.id)
    return row === null ? null : verdictOf(turn, row, report)
  },
  ended: (turn, { id, outcome }) => {
    const row = parts.recall.row(turn, "swaps", id)
    if (row === null) return
    const owned = ownedTurn(turn, parts)
    const { outcome: became, swap = null } = outcome
    if (became === "EXECUTED") {
      // An executed take without its swap in the report stays in flight: a later report will contain the swap (`definite`).
      if (swap !== null) onSwapReport(owned, row, swap, outcome.at)
    } else if (became === "REFUSED") {
      stepSwap(owned, row, { type: "REFUSED", at: turn.now, reason: refusalReason(outcome) })
    } else {
      stepSwap(owned, row, { type: "MISSED", at: turn.now, releaseAt: turn.now + releaseMillis })
    }
  },
  reported: (turn, { id, at, fact }) => {
    const row = parts.recall.row(turn, "swaps", id)
    if (row === null) return false
    if (fact.type === "swap") onSwapReport(ownedTurn(turn, parts), row, fact.swap, at)
    return true
  },
  quoted: null
})

const verdictOf = (turn: Turn, row: SwapRow, { swap, at, isEvent = false, ...rest }: ObjectReport): Verdict => {
  const asset = assetOf(row)
  const worthOf = (): bigint => {
    const mark = holdingMark(asset, turn.facts)
    return mark === null ? 0n : valueAt(asset, minorOf(row.context.notional, asset), mark)
  }
  const { symbol } = row.context
  return judgedOn(
    turn,
    { symbol, at, of: [`swap:${row.id}`], isEvent },
    (seen) => {
      if (reportsOther(rest, ["swap"])) return "the message of its ref has no swap"
      return swap === null || swap === undefined ? null : swapMisfit(swap, { swap: row.context, ...seen })
    },
    worthOf
  )
}

/**
 * Applies what a venue report adds to a swap, in this order: the take, its ids, fees, payments, the end. `at`: the venue's
 * time.
 */
const onSwapReport = (owned: OwnedTurn, row: SwapRow, swap: VenueSwap, at: number): void => {
  const known = row.context.contractId === null ? tookIn(owned, row, swap) : row
  const taken = known === null ? null : namedIn(owned, known, swap)
  if (taken === null) return
  const charged = feesIn(owned, taken, swap)
  const paid = paymentsIn(owned, charged, swap)
  endIn(owned, paid, swap, at)
}

/** Adds the venue's ids to a swap that staff resolved, from the next report under the ref of the take. */
const namedIn = (owned: OwnedTurn, row: SwapRow, { id, tradeId, openedAt, maturityAt }: VenueSwap): SwapRow => {
  if (row.context.contractId !== 0 || id === 0) return row
  const ids = { contractId: id, tradeId }
  const times = { openedTs: openedAt, maturityTs: maturityAt }
  const next = stepSwap(owned, row, { type: "NAMED", at: owned.turn.now, ...ids, ...times })
  if (next !== null && row.context.tradeId !== tradeId) {
    alarm(owned, next, "swap.otherTrade", `It was resolved as trade ${row.context.tradeId}; the venue's is ${tradeId}.`)
  }
  return next ?? row
}

/** Records a doubt about a report. True if the doubt is new, because staff get only one alarm for each. */
const isNewDoubt = (owned: OwnedTurn, row: SwapRow, of: string): boolean =>
  stepSwap(owned, row, { type: "DOUBT", at: owned.turn.now, of }) !== null

const tookIn = (owned: OwnedTurn, row: SwapRow, swap: VenueSwap): SwapRow | null => {
  const { turn } = owned
  const asset = assetOf(row)
  const text = (amount: string): string => formatAmount(minorOf(amount, asset), asset)
  const taken: Taken = {
    at: turn.now,
    contractId: swap.id,
    tradeId: swap.tradeId,
    notional: text(swap.notional),
    rateBps: swap.rateBps,
    tenorDays: swap.tenorDays,
    reward: text(swap.reward),
    openedTs: swap.openedAt,
    maturityTs: swap.maturityAt
  }
  const lacks = lackOf(row, taken)
  const free = lacks > 0n ? freeIn(owned, asset) : 0n
  const next = stepSwap(owned, row, { type: "TOOK", ...taken })
  if (next === null) return null
  if (lacks > free) shortBreak(owned, next, lacks - (free > 0n ? free : 0n))
  return next
}

/**
 * The part of a take's cost that its hold does not cover, minor units. Once the hold is released this is the whole cost.
 */
const lackOf = ({ state, context }: SwapRow, { notional }: Taken): bigint => {
  const { asset, estimatedFee } = context
  const cost = minorOf(notional, asset) + minorOf(estimatedFee, asset)
  const held = state === "ACCEPTING" ? minorOf(context.notional, asset) + minorOf(estimatedFee, asset) : 0n
  return cost - held
}

const freeIn = ({ turn }: OwnedTurn, asset: Currency): bigint => {
  const client = oneInTurn(turn, "clients")
  if (client === undefined) return 0n
  const { cashOf, risk } = accountInTurn(turn, client)
  return asset === "USDC" ? risk.free : cashOf(asset)
}

/**
 * Opens a break for a take that was executed although its hold was released, if the balance does not cover it. The
 * break pauses money out.
 */
const shortBreak = (owned: OwnedTurn, row: SwapRow, short: bigint): void => {
  const asset = assetOf(row)
  const reason = `Swap ${row.id} was found executed and needs ${formatAmount(short, asset)} ${asset} more than is free.`
  valueBreak(owned, row, short, reason)
}

/** Opens a break of an asset amount, in USDC at the last mark, or of the least amount without a mark. */
const valueBreak = (
  owned: OwnedTurn,
  row: SwapRow,
  amount: bigint,
  reason: string,
  action: string | null = "swap.short"
): void => {
  const mark = holdingMark(assetOf(row), owned.turn.facts)
  const value = mark === null ? 0n : valueAt(assetOf(row), amount, mark)
  if (action !== null) alarm(owned, row, action, reason)
  breakOfClient(owned.turn, row, value, reason)
}

/** Books new fee corrections, each once. A fee of the take that differs from the estimate counts as correction 0. */
const feesIn = (owned: OwnedTurn, row: SwapRow, swap: VenueSwap): SwapRow => {
  let now = row
  const asset = assetOf(row)
  const correct = (correctionId: number, fee: string): void => {
    const event = {
      type: "FEE",
      at: owned.turn.now,
      correctionId,
      fee: formatAmount(minorOf(fee, asset), asset)
    } as const
    const before = now
    now = stepSwap(owned, now, event) ?? now
    excessBreak(owned, before, now)
  }
  if (swap.corrections.length === 0 && now.context.corrections.length === 0) {
    if (!new MoneyDecimal(swap.fee).eq(now.context.fee)) correct(0, swap.fee)
    return now
  }
  for (const { id, fee } of swap.corrections.toSorted((one, other) => one.id - other.id)) {
    if (!now.context.corrections.includes(id)) correct(id, fee)
  }
  return now
}

/** Opens a break for a fee above the listed rate: for the part of the excess that this report adds. */
const excessBreak = (owned: OwnedTurn, before: SwapRow, row: SwapRow): void => {
  const asset = assetOf(row)
  const excessOf = ({ context: { fee, estimatedFee } }: SwapRow): bigint => {
    const excess = minorOf(fee, asset) - minorOf(estimatedFee, asset)
    return excess > 0n ? excess : 0n
  }
  const more = excessOf(row) - excessOf(before)
  if (more <= 0n) return
  const { fee, estimatedFee } = row.context
  const reason = `The fee of swap ${row.id} is ${fee} ${asset}, by the listed rate ${estimatedFee}.`
  valueBreak(owned, row, more, reason, "swap.fee")
}

/** Books new payments, each once. After a final settlement the last payment ends the swap. */
const paymentsIn = (owned: OwnedTurn, row: SwapRow, { payments, end }: VenueSwap): SwapRow => {
  let now = row
  const asset = assetOf(row)
  const inOrder = payments.toSorted((one, other) => one.id - other.id)
  const last = end === "FINAL_SETTLEMENT" ? inOrder.at(-1)?.id : undefined
  let more = 0
  for (const { id: paymentId, amount: paid, at } of inOrder) {
    const amount = formatAmount(minorOf(paid, asset), asset)
    const booked = now.context.payments.find(({ id }) => id === paymentId)
    if (booked === undefined) {
      // Commits are bounded: a later report or the comparison books the remaining payments.
      if (++more > paymentsAtOnce) break
      const { beyond } = partsOfPayment(termsOfSwap(now.context), progressOfSwap(now.context), minorOf(amount, asset))
      now = stepSwap(owned, now, { type: "PAID", at, paymentId, amount, final: paymentId === last }) ?? now
      const reason = `Payment ${paymentId} of swap ${now.id} brings ${formatAmount(beyond, asset)} ${asset} beyond what was expected.`
      // The swap machine has already written the alarm about the surplus of this payment.
      if (beyond > 0n) valueBreak(owned, now, beyond, reason, null)
    } else if (booked.amount !== amount && isNewDoubt(owned, now, `payment ${paymentId} as ${amount}`)) {
      now = swapInTurn(owned.turn, now.id) ?? now
      const reason = `Payment ${paymentId} of swap ${now.id} came again as ${amount}; booked was ${booked.amount}.`
      valueBreak(owned, now, minorOf(amount, asset) - minorOf(booked.amount, asset), reason)
    }
  }
  return now
}

/**
 * Applies the end that the venue reports: settled because the market was delisted, even without a payment, or paid short at
 * maturity.
 */
const endIn = (owned: OwnedTurn, row: SwapRow, { end, short }: VenueSwap, at: number): void => {
  const { turn } = owned
  if (end === "FINAL_SETTLEMENT") return void stepSwap(owned, row, { type: "DELISTED", at: turn.now })
  if (short && end === null) stepSwap(owned, row, { type: "SHORT", at: Math.max(at, turn.now) })
}

/** Writes an audit row about the swap that staff have to examine. */
const alarm = ({ turn, of }: OwnedTurn, { id, state }: SwapRow, action: string, reason: string): void =>
  applyEffects(turn, { ...of, object: `swap:${id}` }, [{ type: "audit", action, before: state, after: state, reason }])

/**
 * Timers of swaps by handler; the timer name holds the id of the swap. The venue may have paid in time although the
 * event is still to come. So an overdue swap counts as in default only once every earlier event of the venue is
 * applied.
 */
export const swapTimers = (link: VenueLink["Service"]) => {
  /** The checkpoint of the venue's events at the last check, and the business time at which it last advanced. */
  let seen = { takenTo: 0, at: 0 }
  const pauseAt = (now: number, takenTo: number): number => {
    if (takenTo !== seen.takenTo) seen = { takenTo, at: now }
    return Math.min(longestPause, Math.max(shortestPause, now - seen.at))
  }
  return {
    "swap.release": (turn, _dueAt, id) => {
      const row = swapInTurn(turn, Number(id))
      if (row !== undefined) advance(turn, "swaps", row, { type: "RELEASE", at: turn.now })
    },
    "swap.overdue": (turn, _dueAt, id) => {
      const row = swapInTurn(turn, Number(id))
      if (row === undefined) return
      const takenTo = link.state().takenTo ?? 0
      if (takenTo >= (row.context.maturityTs ?? 0) + overdueMillis) {
        advance(turn, "swaps", row, { type: "OVERDUE", at: turn.now })
        return
      }
      const again = { name: `swap.overdue:${row.id}` as const, dueAt: turn.now + pauseAt(turn.now, takenTo) }
      turn.draft.put("timers", { subject: turn.state.subject, ...again })
    }
  } as const satisfies Readonly<Record<string, TimerHandler>>
}
