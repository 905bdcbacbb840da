/**
 * Every kind of object that calls the venue, with its event handlers: one line each (docs/adding-a-noun.md).
 */
import { Effect } from "effect"
import type { RowReads } from "../../../ports/RowReads.ts"
import { contractHandler } from "../../trading/contract/contractEvents.ts"
import { doubtOrders, onVenueTrade, orderHandler, orderPartsOf } from "../../trading/order/orderEvents.ts"
import { unnamedVerdict } from "../../trading/order/unnamedVerdict.ts"
import type { Directory } from "../../partners/Directory.ts"
import type { OutOfSync } from "../../venue/OutOfSync.ts"
import { QuoteBoard } from "../../trading/rfq/QuoteBoard.ts"
import { rfqHandler } from "../../trading/rfq/rfqEvents.ts"
import { swapHandler } from "../../trading/swap/swapEvents.ts"
import { VenueGateway } from "../../venue/VenueGateway.ts"
import { probeHandler } from "../../venue/probeDecisions.ts"
import type { VenueHandlers } from "../../venue/VenueHandler.ts"

export const venueHandlers: Effect.Effect<
  VenueHandlers,
  never,
  VenueGateway | Directory | QuoteBoard | RowReads | OutOfSync
> = Effect.gen(function* () {
  const orderParts = yield* orderPartsOf
  const parts = { ...orderParts, board: yield* QuoteBoard }
  return {
    venueProbe: probeHandler,
    rfq: rfqHandler(parts),
    barrierContract: contractHandler(parts),
    order: orderHandler(orderParts),
    swap: swapHandler(orderParts),
    answered: (yield* VenueGateway).take,
    unnamedVerdict: (turn, fact) => unnamedVerdict({ turn, ...orderParts }, fact),
    unnamed: (turn, fact, report) => onVenueTrade(turn, orderParts, fact, report),
    doubted: (turn) => (turn === null ? orderParts.unsettled.addAll() : doubtOrders(turn, orderParts))
  }
})
