/** Handlers of documents: each is one call of a service (operator surface). */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { parseId } from "../../machines/shared/Ids.ts"
import { refuse, unknown, type Verdict } from "../../machines/shared/Refusal.ts"
import type { DispatchError } from "../../runtime/engine/mailbox/ActorHost.ts"
import { DocumentReads } from "../../runtime/services/clients/document/DocumentReads.ts"
import { Documents } from "../../runtime/services/clients/document/Documents.ts"
import type { OperatorCaller } from "../../runtime/services/shared/OperatorCaller.ts"
import { DocumentGroup } from "../api/operator/DocumentGroup.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answer } from "./toOperatorError.ts"

/** Runs a command on the document with this id. A malformed id names no document, so it is refused as unknown. */
const onDocument = <A>(
  segment: string,
  run: (caller: OperatorCaller, documentId: number) => Effect.Effect<Verdict<A>, DispatchError>
) =>
  Effect.flatMap(currentCaller, (caller) => {
    const documentId = parseId(segment)
    return answer(documentId === undefined ? Effect.succeed(refuse(unknown("Document"))) : run(caller, documentId))
  })

const documentHandlers = HttpApiBuilder.group(
  OperatorApi,
  "document",
  Effect.fnUntraced(function* (handlers) {
    const documents = yield* Documents
    const reads = yield* DocumentReads
    return handlers.handleAll({
      list: ({ params, payload: { reason } }) =>
        Effect.flatMap(currentCaller, (caller) => answer(reads.list(caller, params.client, reason))),
      show: ({ params, payload: { reason, content } }) =>
        onDocument(params.documentId, (caller, documentId) =>
          reads.read(caller, documentId, { reason, content: content ?? false })
        ),
      delete: ({ params, payload }) =>
        onDocument(params.documentId, (caller, documentId) => documents.remove(caller, documentId, payload.reason))
    })
  })
)

export const document = operatorFeature({ api: DocumentGroup, layer: DocumentReads.layer, handlers: documentHandlers })
