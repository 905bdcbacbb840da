/** What came of a client's orders: positions, trades, and the history of what was closed (doc 2, Order; A2-43, A2-44, A2-100), bare routes. */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { PositionHistoryWire, PositionsWire, TradesWire } from "../../machines/order/OrderWire.ts"
import { pageLimits } from "../../machines/shared/Limits.ts"
import { bare } from "./Envelope.ts"
import { clientParams, pageParams } from "./Parameters.ts"
import { BadRequest } from "./WireErrors.ts"

const page = { params: clientParams, query: pageParams(pageLimits.history), error: BadRequest } as const

export class PositionsApi extends HttpApiGroup.make("positions")
  .add(
    HttpApiEndpoint.get("list", "/clients/:clientId/positions", {
      params: clientParams,
      success: bare(PositionsWire)
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Positions of a client in perpetuals (bare)",
        description: "Those that are not flat. What they are worth now is in the margin picture."
      })
    ),
    HttpApiEndpoint.get("trades", "/clients/:clientId/trades", {
      ...page,
      success: bare(TradesWire)
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Trades of a client, newest first (bare)",
        description:
          "Each execution once, with price, quantity, commission and what it realised. nextBefore is the before of the next page, null on the last one."
      })
    ),
    HttpApiEndpoint.get("history", "/clients/:clientId/position-history", {
      ...page,
      success: bare(PositionHistoryWire)
    }).annotateMerge(
      OpenApi.annotations({
        summary: "What of a client's positions was closed, newest first (bare)",
        description: "A row for each fill that made a position smaller; of one that turned it, the part that closed."
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Positions and trades", description: "What came of the orders of clients." })
  ) {}
