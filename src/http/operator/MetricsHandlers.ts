/** The handler of metrics (operator surface). */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Metrics } from "../../runtime/services/operations/system/Metrics.ts"
import { MetricsGroup } from "../api/operator/MetricsGroup.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { operatorFeature } from "./operatorFeature.ts"

const metricsHandlers = HttpApiBuilder.group(
  OperatorApi,
  "metrics",
  Effect.fnUntraced(function* (handlers) {
    const metrics = yield* Metrics
    return handlers.handleAll({ show: () => metrics.text })
  })
)

export const metrics = operatorFeature({ api: MetricsGroup, layer: Metrics.layer, handlers: metricsHandlers })
