/** Documents of clients for compliance: audited reads, deletion (operator surface, Back office; A1-38). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Document, documentPurposes } from "../../../machines/document/Document.ts"
import { Id } from "../../../machines/shared/Ids.ts"
import { compliance, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Reason, Reference } from "./OperatorFieldSchemas.ts"

const ClientDocument = Schema.Struct({
  ...Document.fields,
  clientId: Id,
  purpose: Schema.Literals(documentPurposes)
})

export class DocumentGroup extends HttpApiGroup.make("document").add(
  // A POST, because the read is audited: the list contains file names.
  HttpApiEndpoint.post("list", "/clients/:client/documents/list", {
    params: { client: Reference },
    payload: Schema.Struct({ reason: Reason }),
    success: Answer(Schema.Struct({ documents: Schema.Array(ClientDocument) }))
  }).pipe(openTo(compliance, { audited: true })),
  // The original content in base64; a file has at most 8 MB.
  HttpApiEndpoint.post("show", "/documents/:documentId/show", {
    params: { documentId: Reference },
    payload: Schema.Struct({ reason: Reason, content: Schema.optionalKey(Schema.Boolean) }),
    success: Answer(Schema.Struct({ ...ClientDocument.fields, dataBase64: Schema.NullOr(Schema.String) }))
  }).pipe(openTo(compliance, { audited: true })),
  HttpApiEndpoint.post("delete", "/documents/:documentId/delete", {
    params: { documentId: Reference },
    payload: Schema.Struct({ reason: Reason }),
    success: Answer(Schema.Struct({ ...Document.fields, clientId: Id }))
  }).pipe(openTo(compliance))
) {}
