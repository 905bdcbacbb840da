/**
 * Results of a client's orders: positions, trades, and the history of closed parts; bare routes (doc 2, Order; A2-43, A2-44,
 * A2-100).
 */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { PositionsWire } from "../../machines/order/OrderWire.ts"
import { bare } from "./Envelope.ts"
import { clientParams } from "./Parameters.ts"
import { trades } from "./TradesApi.ts"
import { positionHistory } from "./PositionHistoryApi.ts"

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
    trades,
    positionHistory
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Positions and trades", description: "What came of the orders of clients." })
  ) {}
