/** Documents of a client: upload and list. No route returns the content of a document (doc 1, Document and rule 10; A1-37). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Document, UploadedDocument } from "../../machines/document/Document.ts"
import { DocumentUploadBody } from "../../machines/document/DocumentUploadBody.ts"
import { bodyCaps } from "../../machines/shared/Limits.ts"
import { created, ok } from "./Envelope.ts"
import { idempotencyHeaders } from "./IdempotencyKey.ts"
import { clientParams } from "./Parameters.ts"
import { RouteRules } from "./RouteRules.ts"
import { BadRequest, Conflict } from "./WireErrors.ts"

export class DocumentsApi extends HttpApiGroup.make("documents")
  .add(
    HttpApiEndpoint.post("upload", "/clients/:clientId/documents", {
      params: clientParams,
      headers: idempotencyHeaders,
      payload: DocumentUploadBody,
      success: created(UploadedDocument),
      error: [BadRequest, Conflict]
    })
      .annotate(RouteRules, { idempotent: true, reliance: false, bodyCap: bodyCaps.documentBody })
      .annotateMerge(
        OpenApi.annotations({
          summary: "Upload a document",
          description:
            "JPEG, PNG or PDF by its content, whatever contentType says; at most 8 MB (8,388,608 bytes) of file. 409 beyond 20 live documents, and on a closed account."
        })
      ),
    HttpApiEndpoint.get("list", "/clients/:clientId/documents", {
      params: clientParams,
      success: ok(Schema.Struct({ documents: Schema.Array(Document) }))
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Documents of a client, newest first, without their content",
        description:
          "What is on file: type, side, name, size and times. Deleted documents have deletedAt and no content any more."
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Documents", description: "Files that support a client's KYC." })) {}
