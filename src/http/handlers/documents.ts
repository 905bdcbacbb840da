/** A client's documents: upload and list (doc 1, Document). */
import { Effect } from "effect"
import { Documents } from "../../runtime/services/clients/document/Documents.ts"
import { DocumentsApi } from "../api/DocumentsApi.ts"
import { feature, handlersOf } from "./feature.ts"
import { orUnknown, write } from "./handler.ts"

export const documents = feature({
  api: DocumentsApi,
  layer: Documents.layer,
  handlers: Effect.map(Documents, (service) =>
    handlersOf(DocumentsApi, {
      upload: write(({ caller, params, body }, store) => service.upload(caller, params.clientId, body, store)),
      list: ({ caller, params }) =>
        Effect.map(service.list(caller.partner.row.id, params.clientId), (documents) =>
          orUnknown(documents === null ? null : { documents })
        )
    })
  )
})
