/** The handler of `document delete`: one call of the service the partner surface uses too (operator surface). */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { parseId } from "../../machines/shared/Ids.ts"
import { refuse, unknown } from "../../machines/shared/Refusal.ts"
import { Documents } from "../../runtime/services/Documents.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answer } from "./toOperatorError.ts"

export const DocumentHandlersLayer = HttpApiBuilder.group(
  OperatorApi,
  "document",
  Effect.fnUntraced(function* (handlers) {
    const documents = yield* Documents
    return handlers.handleAll({
      delete: ({ params, payload }) =>
        Effect.flatMap(currentCaller, (caller) => {
          const documentId = parseId(params.documentId)
          return answer(
            documentId === undefined
              ? Effect.succeed(refuse(unknown("Document")))
              : documents.remove(caller, documentId, payload.reason)
          )
        })
    })
  })
)
