/** The handler that makes links into the atlas (operator surface). */
import { Clock, Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { SealingService } from "../../runtime/engine/sealing/SealingService.ts"
import { AtlasGroup } from "../api/operator/AtlasGroup.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { atlasPrefix } from "./atlas/atlasApp.ts"
import { makeTicket, ticketMillis } from "./atlas/atlasTickets.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answerOf } from "./toOperatorError.ts"

const atlasHandlers = HttpApiBuilder.group(
  OperatorApi,
  "atlas",
  Effect.fnUntraced(function* (handlers) {
    const sealing = yield* SealingService
    return handlers.handleAll({
      link: () =>
        Effect.gen(function* () {
          const { keyId } = yield* currentCaller
          const expiresAt = (yield* Clock.currentTimeMillis) + ticketMillis.link
          const path = `${atlasPrefix}?ticket=${makeTicket(sealing, "link", keyId, expiresAt)}`
          return yield* answerOf(Effect.succeed({ path, expiresAt }))
        })
    })
  })
)

export const atlas = operatorFeature({ api: AtlasGroup, layer: Layer.empty, handlers: atlasHandlers })
