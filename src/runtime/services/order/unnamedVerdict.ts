/**
 * Checks actions that the venue takes in an account without a call. The venue's own trade may only reduce a position of the
 * account (A2-97). Its price must lie in the band of the marks around it. The mark of a funding stamp must lie in its band too
 * (F14, A2-115).
 */
import { outsideBand } from "../../../machines/market/PriceBand.ts"
import { floorToMinor, MoneyDecimal } from "../../../machines/shared/Money.ts"
import type { AccountFact, VenueFunding } from "../../../machines/venue/VenueEvent.ts"
import type { VenueFill, VenueOrder } from "../../../machines/venue/venueObjects.ts"
import { ownOrderMisfit, ownTradeMisfit } from "../../../machines/venueChecks/ownTradeChecks.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { oneInTurn } from "../../engine/mailbox/turnRows.ts"
import type { Recall } from "../shared/Recall.ts"
import { judgedOn, type Verdict } from "../venue/verdict.ts"
import { positionInTurn } from "./orderDecisions.ts"

interface Judging {
  readonly turn: Turn
  readonly recall: Recall
}

export const unnamedVerdict = (at: Judging, fact: AccountFact): Verdict => {
  if (fact.type === "funding") return stampVerdict(at.turn, fact.funding)
  // A trade without a reason of the venue comes from another program, and has no consequences here.
  return fact.type === "fill" && fact.fill.reason !== null ? ownTradeVerdict(at, fact.fill, fact.order) : null
}

const ownTradeVerdict = ({ turn, recall }: Judging, fill: VenueFill, order: VenueOrder): Verdict => {
  const client = oneInTurn(turn, "clients")
  if (client === undefined) return null
  const { symbol, side, tradeId } = fill
  const netQty = positionInTurn(turn, symbol)?.netQty ?? "0"
  const verdict = judgedOn(
    turn,
    { symbol, at: fill.at },
    ({ bandAt, venueTime }) =>
      ownOrderMisfit(order, fill) ??
      ownTradeMisfit(fill, { account: client.uid, netQty, band: bandAt(fill.at), venueTime }),
    () => floorToMinor(new MoneyDecimal(fill.qty).mul(fill.price), "USDC")
  )
  if (verdict === null) return null
  // A booked trade may come again.
  return recall.matching(turn, "fills", { client_id: client.id, trade_id: tradeId, symbol, side }) === null
    ? verdict
    : null
}

const stampVerdict = (turn: Turn, { symbol, settledAt, mark, amount }: VenueFunding): Verdict =>
  mark === null
    ? null
    : judgedOn(
        turn,
        { symbol, at: settledAt },
        ({ bandAt }) => outsideBand(mark, bandAt(settledAt)),
        () => floorToMinor(new MoneyDecimal(amount ?? 0).abs(), "USDC")
      )
