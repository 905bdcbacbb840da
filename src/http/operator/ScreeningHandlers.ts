/** Handlers of the watch list and its imports: each is one call of a service (operator surface, screening). */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { parseId } from "../../machines/shared/Ids.ts"
import { refuse, unknown } from "../../machines/shared/Refusal.ts"
import { ScreeningImports } from "../../runtime/services/screening/ScreeningImports.ts"
import { ScreeningPasses } from "../../runtime/services/clients/screening/ScreeningPasses.ts"
import { WatchLists } from "../../runtime/services/screening/WatchLists.ts"
import { ScreeningGroup } from "../api/operator/ScreeningGroup.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answer, answerOf } from "./toOperatorError.ts"

const unknownImport = Effect.succeed(refuse(unknown("Import")))

const screeningHandlers = HttpApiBuilder.group(
  OperatorApi,
  "screening",
  Effect.fnUntraced(function* (handlers) {
    const watchLists = yield* WatchLists
    const imports = yield* ScreeningImports
    const passes = yield* ScreeningPasses
    return handlers.handleAll({
      add: ({ payload }) => Effect.flatMap(currentCaller, (caller) => answerOf(watchLists.add(caller, payload))),
      list: ({ query }) =>
        answerOf(
          watchLists.list({
            limit: query.limit ?? 1_000,
            ...(query.before === undefined ? {} : { before: query.before })
          })
        ),
      remove: ({ params }) =>
        Effect.flatMap(currentCaller, (caller) => {
          const entryId = parseId(params.entryId)
          return answer(
            entryId === undefined
              ? Effect.succeed(refuse(unknown("Watch list entry")))
              : watchLists.remove(caller, entryId)
          )
        }),
      sources: () => answerOf(Effect.map(imports.sources, (sources) => ({ sources }))),
      passes: ({ query }) =>
        answerOf(
          passes.list({ limit: query.limit ?? 20, ...(query.before === undefined ? {} : { before: query.before }) })
        ),
      import: ({ payload }) => Effect.flatMap(currentCaller, (caller) => answer(imports.begin(caller, payload))),
      entries: ({ params, payload }) =>
        Effect.flatMap(currentCaller, (caller) => {
          const importId = parseId(params.importId)
          return answer(
            importId === undefined ? unknownImport : imports.entries(caller, importId, payload.offset, payload.entries)
          )
        }),
      finish: ({ params, payload }) =>
        Effect.flatMap(currentCaller, (caller) => {
          const importId = parseId(params.importId)
          return answer(
            importId === undefined ? unknownImport : imports.finish(caller, importId, payload.allowShrink ?? false)
          )
        })
    })
  })
)

export const screening = operatorFeature({
  api: ScreeningGroup,
  layer: Layer.merge(WatchLists.layer, ScreeningImports.layer),
  handlers: screeningHandlers
})
