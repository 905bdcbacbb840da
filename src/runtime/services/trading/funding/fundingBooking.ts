/**
 * Books the funding of a stamp, once, on our position at its place in the account's sequence (F14). Where that is the venue's
 * position too, nothing else is written. Where it is not, a trade may be missing: while the account is being asked for, nothing
 * is posted; then ours is, by the rule, and a trade that is found later with an earlier place posts its difference. What stays
 * different is judged by the comparison with the venue (A2-103).
 */
import {
  correctionKey,
  fundingKey,
  fundingPayment,
  fundingRefs,
  type FundingStamp,
  positionAtStamp
} from "../../../../machines/funding/fundingRules.ts"
import { decimalText, formatAmount, MoneyDecimal } from "../../../../machines/shared/Money.ts"
import type { VenueFunding } from "../../../../machines/venue/VenueEvent.ts"
import type { OwnedTurn } from "../../../effects/Instance.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { TimerHandler } from "../../../engine/timers/Timers.ts"
import type { OpenFundingRow } from "../../../tables/funding.ts"
import type { OrderRow } from "../../../tables/order.ts"
import { hearing } from "../../account/hearing.ts"
import type { Directory } from "../../partners/Directory.ts"
import { type FillInTime, fillsSince, isAskedFor, positionInTurn } from "../order/orderDecisions.ts"
import type { Unsettled } from "../../venue/Unsettled.ts"
import type { Recall } from "../../account/Recall.ts"
import type { Unnamed } from "../../venue/VenueHandler.ts"
import { closeFunding, givesWay, lookAgain, openFunding, openFundingOf, openFundingsInTurn } from "./openFundings.ts"

export interface FundingTurn extends OwnedTurn {
  readonly recall: Recall
  readonly unsettled: Unsettled["Service"]
}

/** A held stamp is looked at again so often, and held so long at the most, business ms. */
const againAfter = 5_000
const heldAtMost = 60_000

const isPosted = "its stamp of funding is posted already"

/**
 * As `bookFunding`, of an event. The first word on a stamp comes at its time, or has left it open: another one may be of a stamp that
 * is posted, and then the first one stands, whatever this one says.
 */
export const heardOfStamp = (
  at: FundingTurn,
  said: VenueFunding,
  { at: saidAt, isWhole }: Unnamed
): boolean | string => {
  const { turn, recall } = at
  const isLater = saidAt > said.settledAt && openFundingOf(turn, said) === undefined
  const key = fundingKey(said, owner(at).clientId)
  if (isLater && recall.matching(turn, "ledgerTransactions", { key }) !== null) return isPosted
  return bookFunding(at, said, isWhole)
}

/**
 * Takes what the venue says of a stamp; false when nothing here can follow it: a second word on one that is priced, or on a
 * market without funding. `isWhole`: nothing is missing of the account's events before it.
 */
export const bookFunding = (at: FundingTurn, said: VenueFunding, isWhole: boolean): boolean => {
  const open = openFundingOf(at.turn, said)
  if (open !== undefined) return price(at, open, said)
  const position = positionInTurn(at.turn, said.symbol)
  if (position?.state === "SPOT") return false
  const qty = position === undefined ? "0" : heldAt(at, position, said)
  const stamp = pricedBy(said)
  const agrees = isSame(qty, said.netQty)
  if (stamp !== null && agrees) {
    const { amount, netQty } = said
    post(at, stamp, qty)
    // Another amount for the same quantity: ours stands, and the comparison says so.
    if (amount !== null && new MoneyDecimal(amount).eq(usdc(fundingPayment(netQty, stamp)))) return true
  }
  const { partnerId, clientId } = owner(at)
  const { symbol, settledAt, mark, rate } = said
  const posted = stamp !== null && (agrees || (isWhole && !isAskedFor(at.turn, at.unsettled)))
  if (posted && !agrees) post(at, stamp, qty)
  const live = !(posted && agrees)
  if (live) makeRoom(at)
  const row = openFunding(at.turn, {
    partnerId,
    clientId,
    symbol,
    settledAt,
    mark,
    rate,
    qty,
    venueQty: said.netQty,
    posted,
    live
  })
  if (stamp !== null && !posted) lookAgain(at.turn, row, againAfter)
  return true
}

/** Room for one more open stamp: one that is held is posted on ours before it is let go, and never lost. */
const makeRoom = (at: OwnedTurn): void => {
  const oldest = givesWay(at.turn)
  if (oldest === null) return
  const stamp = pricedBy(oldest)
  if (stamp !== null && !oldest.posted) post(at, stamp, oldest.qty)
  closeFunding(at.turn, { ...oldest, posted: stamp !== null })
}

/** Mark and rate of a stamp that had none: it is posted late, on the position that it had (SC-FUN-05). */
const price = (at: FundingTurn, open: OpenFundingRow, said: VenueFunding): boolean => {
  const stamp = pricedBy(said)
  if (open.mark !== null || stamp === null) return false
  const row = { ...open, mark: stamp.mark, rate: stamp.rate, venueQty: said.netQty }
  if (isSame(row.qty, row.venueQty) || !isAskedFor(at.turn, at.unsettled)) settle(at, row)
  else {
    at.turn.draft.put("openFundings", row)
    lookAgain(at.turn, row, againAfter)
  }
  return true
}

/** Posts an open stamp on our quantity; it stays open while that is not the venue's. */
const settle = (at: OwnedTurn, row: OpenFundingRow): void => {
  const stamp = pricedBy(row)
  if (stamp === null || row.posted) return
  post(at, stamp, row.qty)
  keep(at.turn, { ...row, posted: true })
}

const keep = (turn: Turn, row: OpenFundingRow): void =>
  row.posted && isSame(row.qty, row.venueQty) ? closeFunding(turn, row) : turn.draft.put("openFundings", row)

/**
 * A trade of a perpetual that has just been booked because the venue was asked for it. It counts at the open stamps behind it:
 * what is posted is put right by the difference (SC-FUN-04).
 */
export const countFoundTrade = (at: OwnedTurn, order: OrderRow, { side, qty, at: ts, tradeId }: Found): void => {
  const signed = side === "BUY" ? qty : `-${qty}`
  for (const open of openFundingsInTurn(at.turn)) {
    if (open.symbol !== order.symbol || !countsAt(open, ts, signed)) continue
    const row = { ...open, qty: decimalText(new MoneyDecimal(open.qty).plus(signed)) }
    const stamp = pricedBy(row)
    if (stamp === null) at.turn.draft.put("openFundings", row)
    else if (!row.posted) {
      if (isSame(row.qty, row.venueQty)) settle(at, row)
      else at.turn.draft.put("openFundings", row)
    } else {
      const more = fundingPayment(row.qty, stamp) - fundingPayment(open.qty, stamp)
      putDown(at, correctionKey(stamp, open.clientId, { orderId: order.id, tradeId }), stamp, signed, more)
      keep(at.turn, row)
    }
  }
}

interface Found {
  readonly side: "BUY" | "SELL"
  readonly qty: string
  readonly at: number
  readonly tradeId: number
}

/** In the stamp's own millisecond it lies before it where that brings us nearer to the venue's quantity. */
const countsAt = ({ settledAt, qty, venueQty }: OpenFundingRow, ts: number, signed: string): boolean => {
  if (ts !== settledAt) return ts < settledAt
  const lacks = new MoneyDecimal(venueQty).minus(qty)
  return lacks.minus(signed).abs().lt(lacks.abs())
}

/** The timer of a held stamp: what was asked for has been answered, or nobody answers. */
export const fundingTimers = (parts: {
  readonly directory: Directory["Service"]
  readonly unsettled: Unsettled["Service"]
}) =>
  ({
    "funding.held": (turn, _dueAt, id) => {
      const row = openFundingsInTurn(turn).find((open) => open.id === Number(id))
      if (row === undefined || row.posted) return
      const at = hearing(turn, parts)
      if (isAskedFor(turn, parts.unsettled) && turn.now < row.createdAt + heldAtMost) lookAgain(turn, row, againAfter)
      else settle(at, row)
    }
  }) as const satisfies Readonly<Record<string, TimerHandler>>

/**
 * The position at a stamp. Trades after the stamp may already be booked, because the service queried the venue for them. Older
 * trades may be booked after those. So the time of each trade counts, not the order of booking.
 */
const heldAt = (
  at: FundingTurn,
  { symbol, netQty, updatedAt }: { readonly symbol: string; readonly netQty: string; readonly updatedAt: number },
  stamp: VenueFunding
): string => {
  // `updatedAt` is no earlier than any trade of the position.
  if (updatedAt < stamp.settledAt) return netQty
  const trades = fillsSince(at, symbol, stamp.settledAt)
  return trades.length === 0 ? netQty : positionAtStamp(netQty, trades.map(timedTrade), stamp)
}

const timedTrade = ({ side, qty, ts }: FillInTime) => ({ qty: side === "BUY" ? qty : `-${qty}`, at: ts })

const pricedBy = ({
  symbol,
  settledAt,
  mark,
  rate
}: Pick<VenueFunding, "symbol" | "settledAt" | "mark" | "rate">): FundingStamp | null =>
  mark === null || rate === null ? null : { symbol, settledAt, mark, rate }

const isSame = (qty: string, other: string): boolean => qty === other || new MoneyDecimal(qty).eq(other)

const post = (at: OwnedTurn, stamp: FundingStamp, qty: string): void =>
  putDown(at, fundingKey(stamp, owner(at).clientId), stamp, qty, fundingPayment(qty, stamp))

/** In full, also where cash falls below zero by it (F10). */
const putDown = ({ turn, of }: OwnedTurn, key: string, stamp: FundingStamp, qty: string, amount: bigint): void => {
  if (amount === 0n) return
  applyEffects(turn, of, [
    {
      type: "ledger.post",
      entry: "FUNDING",
      key,
      currency: "USDC",
      amount: usdc(amount),
      reason: null,
      refs: fundingRefs(stamp, qty)
    }
  ])
}

const usdc = (amount: bigint): string => formatAmount(amount, "USDC")

const owner = ({ of: { partnerId, clientId } }: OwnedTurn) => {
  if (partnerId === null || clientId === null) throw new Error("funding needs a client")
  return { partnerId, clientId }
}
