/** Handlers of requests for quotes, contracts, margin and close-outs: each is one call of a service (operator surface). */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { cleanText } from "../../machines/shared/Text.ts"
import { CloseOutDesk } from "../../runtime/services/margin/CloseOutDesk.ts"
import { CloseOutReads } from "../../runtime/services/margin/CloseOutReads.ts"
import { MarginWatch } from "../../runtime/services/margin/MarginWatch.ts"
import { Approvals } from "../../runtime/services/operations/operator/Approvals.ts"
import { TradeReads } from "../../runtime/services/operations/operator/TradeReads.ts"
import { CloseOutGroup } from "../api/operator/CloseOutGroup.ts"
import { ContractGroup } from "../api/operator/ContractGroup.ts"
import { MarginGroup } from "../api/operator/MarginGroup.ts"
import { RfqGroup } from "../api/operator/RfqGroup.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { onObject } from "./onObject.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { answer } from "./toOperatorError.ts"

const usual = 100
/** The default number of accounts: as many as a terminal shows without scrolling. */
const usualNear = 20

const rfqHandlers = HttpApiBuilder.group(
  OperatorApi,
  "rfq",
  Effect.fnUntraced(function* (handlers) {
    const reads = yield* TradeReads
    return handlers.handleAll({
      list: ({ query: { limit = usual, ...rest } }) => answer(reads.rfqs({ limit, ...rest })),
      show: ({ params }) => answer(reads.rfq(params.rfqId))
    })
  })
)

const contractHandlers = HttpApiBuilder.group(
  OperatorApi,
  "contract",
  Effect.fnUntraced(function* (handlers) {
    const reads = yield* TradeReads
    return handlers.handleAll({
      list: ({ query: { limit = usual, ...rest } }) => answer(reads.contracts({ limit, ...rest })),
      show: ({ params }) => answer(reads.contract(params.contractId))
    })
  })
)

const marginHandlers = HttpApiBuilder.group(
  OperatorApi,
  "margin",
  Effect.fnUntraced(function* (handlers) {
    const reads = yield* TradeReads
    const watch = yield* MarginWatch
    return handlers.handleAll({
      show: ({ params }) => answer(reads.margin(params.client)),
      watch: ({ params, query: { limit = usualNear } }) => answer(watch.near(params.symbol, limit))
    })
  })
)

const closeOutHandlers = HttpApiBuilder.group(
  OperatorApi,
  "closeout",
  Effect.fnUntraced(function* (handlers) {
    const [reads, episodes, approvals] = [yield* TradeReads, yield* CloseOutReads, yield* Approvals]
    return handlers.handleAll({
      list: ({ query: { limit = usual, open, ...rest } }) =>
        answer(reads.closeOuts({ limit, ...rest, ...(open === undefined ? {} : { open: open === "true" }) })),
      show: ({ params }) => answer(episodes.show(params.closeOutId)),
      widen: ({ params, payload: { to, reason } }) =>
        onObject("Close-out", params.closeOutId.replace(/^CO-/i, ""), (caller, closeOutId) =>
          approvals.submit(caller, "closeout widen", { closeOutId, to, reason: cleanText(reason) })
        )
    })
  })
)

export const rfq = operatorFeature({ api: RfqGroup, layer: TradeReads.layer, handlers: rfqHandlers })
export const contract = operatorFeature({ api: ContractGroup, layer: Layer.empty, handlers: contractHandlers })
export const margin = operatorFeature({ api: MarginGroup, layer: MarginWatch.layer, handlers: marginHandlers })
export const closeout = operatorFeature({
  api: CloseOutGroup,
  layer: Layer.mergeAll(CloseOutReads.layer, CloseOutDesk.layer),
  handlers: closeOutHandlers
})
