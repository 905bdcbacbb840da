/** Handlers of the reads of collateral reports and settlement items: each is one call of a service (operator surface). */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { MoneyReads } from "../../runtime/services/operations/operator/MoneyReads.ts"
import { CollateralGroup } from "../api/operator/CollateralGroup.ts"
import { SettlementGroup } from "../api/operator/SettlementGroup.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { answer } from "./toOperatorError.ts"

const usual = 100

const collateralHandlers = HttpApiBuilder.group(
  OperatorApi,
  "collateral",
  Effect.fnUntraced(function* (handlers) {
    const reads = yield* MoneyReads
    return handlers.handleAll({
      list: ({ query: { limit = usual, ...rest } }) => answer(reads.reports({ limit, ...rest }))
    })
  })
)

export const collateral = operatorFeature({
  api: CollateralGroup,
  layer: MoneyReads.layer,
  handlers: collateralHandlers
})

const settlementHandlers = HttpApiBuilder.group(
  OperatorApi,
  "settlement",
  Effect.fnUntraced(function* (handlers) {
    const reads = yield* MoneyReads
    return handlers.handleAll({
      list: ({ query: { limit = usual, ...rest } }) => answer(reads.items({ limit, ...rest }))
    })
  })
)

export const settlement = operatorFeature({ api: SettlementGroup, layer: Layer.empty, handlers: settlementHandlers })
