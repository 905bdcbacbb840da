/**
 * Handlers of the simulated venue's commands: each is one command of the venue's test interface (operator surface, sim venue).
 */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { readPricePath } from "../../venue/pricePath.ts"
import { SimVenue, type TesterCommand } from "../../runtime/services/operations/system/SimVenue.ts"
import { Approvals } from "../../runtime/services/operations/operator/Approvals.ts"
import { VenueReconcile } from "../../runtime/services/reconciliation/VenueReconcile.ts"
import { VenueResolutions } from "../../runtime/services/operations/registries/VenueResolutions.ts"
import { VenueProbes } from "../../runtime/services/venue/VenueProbes.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { VenueGroup } from "../api/operator/VenueGroup.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answer, fieldsError } from "./toOperatorError.ts"

const venueHandlers = HttpApiBuilder.group(
  OperatorApi,
  "venue",
  Effect.fnUntraced(function* (handlers) {
    const venue = yield* SimVenue
    const probes = yield* VenueProbes
    const approvals = yield* Approvals
    const comparisons = yield* VenueReconcile
    const send = (command: TesterCommand) =>
      Effect.flatMap(currentCaller, (caller) => answer(venue.command(caller, command)))
    return handlers.handleAll({
      show: () => answer(venue.show),
      restart: () => Effect.flatMap(currentCaller, (caller) => answer(venue.restart(caller))),
      set: ({ payload }) => send({ type: "set", ...payload }),
      price: ({ payload: { only = null, ...rest } }) => send({ type: "price", ...rest, only }),
      path: ({ payload: { symbol, path } }) => {
        const points = readPricePath(path)
        return "sentence" in points
          ? Effect.fail(fieldsError({ path: `Line ${points.line}: ${points.sentence}` }))
          : send({ type: "path", symbol, points })
      },
      book: ({ payload: { levels = null, spread = null, ...rest } }) => send({ type: "book", ...rest, levels, spread }),
      funding: ({ payload }) => send({ type: "funding", ...payload }),
      execute: ({ payload: { price = null, ...rest } }) =>
        Effect.flatMap(currentCaller, (caller) => answer(venue.execute(caller, { ...rest, price }))),
      fault: ({
        payload: { kind, route = "all", symbol = null, forMillis = null, times = null, delayMillis = null }
      }) => send({ type: "fault", kind, route, symbol, forMillis, times, delayMillis }),
      dealers: ({ payload }) => send({ type: "dealers", ...payload }),
      halt: ({ payload }) => send({ type: "halt", ...payload }),
      resume: ({ payload }) => send({ type: "resume", ...payload }),
      delist: ({ payload }) => send({ type: "delist", ...payload }),
      offer: ({ payload }) => send({ type: "offer", ...payload }),
      pay: ({ payload: { contractId, amount = null } }) => send({ type: "pay", contractId, amount }),
      "correct-fee": ({ payload }) => send({ type: "correctFee", ...payload }),
      probe: ({ payload: { client, calls = 1 } }) =>
        Effect.flatMap(currentCaller, (caller) => answer(probes.run(caller, client, calls))),
      clear: () => send({ type: "clear" }),
      reconcile: ({ payload: { client = null } }) => answer(comparisons.run(client)),
      resolve: ({ payload }) =>
        Effect.flatMap(currentCaller, (caller) => answer(approvals.submit(caller, "venue resolve", payload)))
    })
  })
)

export const venue = operatorFeature({
  api: VenueGroup,
  layer: Layer.mergeAll(SimVenue.layer, VenueProbes.layer, VenueResolutions.layer, VenueReconcile.layer),
  handlers: venueHandlers
})
