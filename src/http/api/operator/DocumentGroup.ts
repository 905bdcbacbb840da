/** Deletion of a client's document by compliance (operator surface, Back office; A1-38). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Document } from "../../../machines/document/Document.ts"
import { Id } from "../../../machines/shared/Ids.ts"
import { Answer } from "./OperatorErrors.ts"
import { Reason, Reference } from "./OperatorFieldSchemas.ts"

export class DocumentGroup extends HttpApiGroup.make("document").add(
  HttpApiEndpoint.post("delete", "/documents/:documentId/delete", {
    params: { documentId: Reference },
    payload: Schema.Struct({ reason: Reason }),
    success: Answer(Schema.Struct({ ...Document.fields, clientId: Id }))
  })
) {}
