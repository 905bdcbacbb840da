// What the document routes do: one service call each (doc 1, Document).
import { Effect } from "effect"
import type { UploadedDocument } from "../../machines/document/Document.ts"
import type { Documents } from "../../runtime/services/document/Documents.ts"
import { gateRefusals } from "../toWire.ts"
import { data, type Read, refused } from "./reads.ts"
import { enveloped, type Write, write } from "./writes.ts"

/** The reads by operation id. */
export const documentReads = (documents: Pick<Documents["Service"], "list">): Readonly<Record<string, Read>> => ({
  "documents.list": ({ partnerId, clientId }) =>
    Effect.map(documents.list(partnerId, clientId), (rows) =>
      rows === null ? refused(gateRefusals.unknownClient) : data({ documents: rows })
    )
})

/** The writes by operation id. */
export const documentWrites = (documents: Pick<Documents["Service"], "upload">): Readonly<Record<string, Write>> => ({
  "documents.upload": write(
    (document: UploadedDocument) => enveloped(201, document),
    ({ caller, clientId, body }, store) => documents.upload(caller, clientId, body, store)
  )
})
