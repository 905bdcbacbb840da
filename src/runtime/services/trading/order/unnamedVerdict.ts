/**
 * Checks actions that the venue takes in an account without a call. The venue's own trade may only reduce a position of the
 * account. Its price must lie in the band of the marks around it. The mark of a funding stamp must lie in its band too (A2-97,
 * A2-115, F14).
 */
import { outsideBand } from "../../../../machines/market/PriceBand.ts"
import { decimalText, floorToMinor, MoneyDecimal } from "../../../../machines/shared/Money.ts"
import type { AccountFact, VenueFunding } from "../../../../machines/venue/VenueEvent.ts"
import type { VenueFill, VenueOrder } from "../../../../machines/venue/venueObjects.ts"
import { ownOrderMisfit, ownTradeMisfit } from "../../../../machines/venueChecks/ownTradeChecks.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import { oneInTurn, rowsInTurn } from "../../../engine/mailbox/turnRows.ts"
import { openFundingOf } from "../funding/openFundings.ts"
import type { Recall } from "../../account/Recall.ts"
import { judgedOn, type Verdict } from "../../venue/verdict.ts"
import { fillsSince, isQueried, positionInTurn } from "./orderDecisions.ts"
import type { OutOfSync } from "../../venue/OutOfSync.ts"

interface Judging {
  readonly turn: Turn
  readonly recall: Recall
  readonly unsettled: OutOfSync["Service"]
}

export const unnamedVerdict = (at: Judging, fact: AccountFact): Verdict => {
  if (fact.type === "funding") return stampVerdict(at.turn, fact.funding)
  // A trade without a reason was not initiated by the venue. It comes from another program, and has no consequences
  // here.
  return fact.type === "fill" && fact.fill.reason !== null ? ownTradeVerdict(at, fact.fill, fact.order) : null
}

const ownTradeVerdict = (at: Judging, fill: VenueFill, order: VenueOrder): Verdict => {
  const { turn, recall } = at
  const client = oneInTurn(turn, "clients")
  if (client === undefined) return null
  const { symbol, side, tradeId } = fill
  const verdict = judgedOn(
    turn,
    { symbol, at: fill.at, isEvent: true },
    ({ bandAt, venueTime }) =>
      ownOrderMisfit(order, fill) ??
      ownTradeMisfit(fill, {
        account: client.uid,
        get netQty() {
          return heldBefore(at, fill)
        },
        band: bandAt(fill.at),
        venueTime
      }),
    () => floorToMinor(new MoneyDecimal(fill.qty).mul(fill.price), "USDC")
  )
  if (verdict === null) return null
  // A trade that is already booked may arrive again. It needs no check.
  if (recall.matching(turn, "fills", { client_id: client.id, trade_id: tradeId, symbol, side }) !== null) return null
  return mayLackTrades(at) && turn.now < fill.at + missingFor ? { ...verdict, isEarly: true } : verdict
}

/**
 * The position in the market before a trade, signed. Trades later than this one may be booked already, from the
 * answer to a call or a query. Their quantities are subtracted.
 */
const heldBefore = (at: Judging, { symbol, tradeId, at: time }: VenueFill): string => {
  const position = positionInTurn(at.turn, symbol)
  if (position === undefined) return "0"
  // No trade of the position is later than `updatedAt`. If this trade is later, the stored position is the one before it.
  if (position.updatedAt < time) return position.netQty
  const later = fillsSince(at, symbol, time).filter((fill) => fill.tradeId > tradeId)
  const held = later.reduce(
    (sum, { side, qty }) => (side === "BUY" ? sum.minus(qty) : sum.plus(qty)),
    new MoneyDecimal(position.netQty)
  )
  return decimalText(held)
}

/**
 * How long a misfit trade of the venue may wait for earlier trades of the account, ms. The reads of a misfit take less
 * time.
 */
const missingFor = 60_000

/** True while queries may still bring earlier trades of the account. A misfit of this trade then waits for them. */
const mayLackTrades = ({ turn, unsettled }: Judging): boolean =>
  isQueried(turn, unsettled) || rowsInTurn(turn, "venueMisfits").some(({ state }) => state === "READING")

const stampVerdict = (turn: Turn, stamp: VenueFunding): Verdict => {
  const { symbol, settledAt, mark, amount } = stamp
  if (mark === null) return null
  return judgedOn(
    turn,
    // The first report of an open stamp gave the stamp's time. So the venue can't have chosen the time to fit the
    // price of this later report.
    { symbol, at: settledAt, isKnown: openFundingOf(turn, stamp) !== undefined },
    ({ bandAt }) => outsideBand(mark, bandAt(settledAt)),
    () => floorToMinor(new MoneyDecimal(amount ?? 0).abs(), "USDC")
  )
}
