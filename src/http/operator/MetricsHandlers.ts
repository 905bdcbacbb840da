/** The handler of metrics (operator surface). */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Metrics } from "../../runtime/services/system/Metrics.ts"
import { OperatorApi } from "../api/OperatorApi.ts"

export const MetricsHandlersLayer = HttpApiBuilder.group(
  OperatorApi,
  "metrics",
  Effect.fnUntraced(function* (handlers) {
    const metrics = yield* Metrics
    return handlers.handleAll({ show: () => metrics.text })
  })
)
