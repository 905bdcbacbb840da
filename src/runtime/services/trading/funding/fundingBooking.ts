/**
 * Books the funding of each stamp once, on our position at the stamp. A difference between our position and the venue's
 * may mean that a trade is missing. So the service first queries the account's orders, and posts the stamp afterwards.
 * A trade that is found later but lies before the stamp posts the difference. The comparison with the venue handles
 * remaining differences (A2-103, F10, F14, SC-FUN-05, SC-FUN-04).
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
import { ownedTurn } from "../../account/ownedTurn.ts"
import type { Directory } from "../../partners/Directory.ts"
import { type FillInTime, fillsSince, isQueried, positionInTurn } from "../order/orderDecisions.ts"
import type { OutOfSync } from "../../venue/OutOfSync.ts"
import type { Recall } from "../../account/Recall.ts"
import type { Unnamed } from "../../venue/VenueHandler.ts"
import { closeFunding, givesWay, checkLater, openFunding, openFundingOf, openFundingsInTurn } from "./openFundings.ts"

export interface FundingTurn extends OwnedTurn {
  readonly recall: Recall
  readonly unsettled: OutOfSync["Service"]
}

/** The interval of checks of a stamp that waits for missing trades, and the longest time that it waits, business ms. */
const againAfter = 5_000
const heldAtMost = 60_000

const isPosted = "its stamp of funding is posted already"

/**
 * Like `bookFunding`, for an event of the venue. The first posting of a stamp stays, so a later event of a posted stamp
 * is refused. An event counts as later if it arrives after the stamp's time and the stamp is not open.
 */
export const onFundingStamp = (
  at: FundingTurn,
  reported: VenueFunding,
  { at: reportedAt, isWhole }: Unnamed
): boolean | string => {
  const { turn, recall } = at
  const isLater = reportedAt > reported.settledAt && openFundingOf(turn, reported) === undefined
  const key = fundingKey(reported, owner(at).clientId)
  if (isLater && recall.matching(turn, "ledgerTransactions", { key }) !== null) return isPosted
  return bookFunding(at, reported, isWhole)
}

/**
 * Applies the venue's report of a stamp. Returns false for a second report of a priced stamp, and for a market without
 * funding. `isWhole`: no earlier event of the account is missing.
 */
export const bookFunding = (at: FundingTurn, reported: VenueFunding, isWhole: boolean): boolean => {
  const open = openFundingOf(at.turn, reported)
  if (open !== undefined) return price(at, open, reported)
  const position = positionInTurn(at.turn, reported.symbol)
  if (position?.state === "SPOT") return false
  const qty = position === undefined ? "0" : heldAt(at, position, reported)
  const stamp = pricedBy(reported)
  const agrees = isSame(qty, reported.netQty)
  if (stamp !== null && agrees) {
    const { amount, netQty } = reported
    post(at, stamp, qty)
    // For the same quantity with another amount our posting stays. The row written below causes a comparison of the
    // account.
    if (amount !== null && new MoneyDecimal(amount).eq(usdc(fundingPayment(netQty, stamp)))) return true
  }
  const { partnerId, clientId } = owner(at)
  const { symbol, settledAt, mark, rate } = reported
  const posted = stamp !== null && (agrees || (isWhole && !isQueried(at.turn, at.unsettled)))
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
    venueQty: reported.netQty,
    posted,
    live
  })
  if (stamp !== null && !posted) checkLater(at.turn, row, againAfter)
  return true
}

/**
 * Closes the oldest open stamp if there is no place for another. A stamp that was not posted is first posted on our
 * quantity, so no funding is lost.
 */
const makeRoom = (at: OwnedTurn): void => {
  const oldest = givesWay(at.turn)
  if (oldest === null) return
  const stamp = pricedBy(oldest)
  if (stamp !== null && !oldest.posted) post(at, stamp, oldest.qty)
  closeFunding(at.turn, { ...oldest, posted: stamp !== null })
}

/**
 * Adds mark and rate to an open stamp that lacks them. Posts it on the position at the stamp, at once or after the
 * query of the account's orders.
 */
const price = (at: FundingTurn, open: OpenFundingRow, reported: VenueFunding): boolean => {
  const stamp = pricedBy(reported)
  if (open.mark !== null || stamp === null) return false
  const row = { ...open, mark: stamp.mark, rate: stamp.rate, venueQty: reported.netQty }
  if (isSame(row.qty, row.venueQty) || !isQueried(at.turn, at.unsettled)) settle(at, row)
  else {
    at.turn.draft.put("openFundings", row)
    checkLater(at.turn, row, againAfter)
  }
  return true
}

/** Posts an open funding stamp on our quantity. The stamp stays open while the venue's quantity differs. */
const settle = (at: OwnedTurn, row: OpenFundingRow): void => {
  const stamp = pricedBy(row)
  if (stamp === null || row.posted) return
  post(at, stamp, row.qty)
  keep(at.turn, { ...row, posted: true })
}

const keep = (turn: Turn, row: OpenFundingRow): void =>
  row.posted && isSame(row.qty, row.venueQty) ? closeFunding(turn, row) : turn.draft.put("openFundings", row)

/**
 * Applies a perpetual trade that a venue query has found to the open stamps after it. Posted stamps are corrected by the
 * difference.
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

/**
 * Whether the trade lies before the stamp. A trade in the stamp's millisecond counts as earlier if that brings our
 * quantity nearer to the venue's.
 */
const countsAt = ({ settledAt, qty, venueQty }: OpenFundingRow, ts: number, signed: string): boolean => {
  if (ts !== settledAt) return ts < settledAt
  const lacks = new MoneyDecimal(venueQty).minus(qty)
  return lacks.minus(signed).abs().lt(lacks.abs())
}

/**
 * The timer of a stamp that waits for missing trades. It posts the stamp once no order query is open, or after the
 * longest wait.
 */
export const fundingTimers = (parts: {
  readonly directory: Directory["Service"]
  readonly unsettled: OutOfSync["Service"]
}) =>
  ({
    "funding.held": (turn, _dueAt, id) => {
      const row = openFundingsInTurn(turn).find((open) => open.id === Number(id))
      if (row === undefined || row.posted) return
      const at = ownedTurn(turn, parts)
      if (isQueried(turn, parts.unsettled) && turn.now < row.createdAt + heldAtMost) checkLater(turn, row, againAfter)
      else settle(at, row)
    }
  }) as const satisfies Readonly<Record<string, TimerHandler>>

/**
 * The position at a stamp, from the times of the trades. The order of booking does not count, because a query may bring
 * trades after the stamp before older ones.
 */
const heldAt = (
  at: FundingTurn,
  { symbol, netQty, updatedAt }: { readonly symbol: string; readonly netQty: string; readonly updatedAt: number },
  stamp: VenueFunding
): string => {
  // `updatedAt` is not before the last trade of the position, so no trade lies at or after the stamp.
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

/** Posts the full amount, even if cash falls below zero. */
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
