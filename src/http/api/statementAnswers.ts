/**
 * Additions to the OpenAPI document for statements: the schema of the model, which is streamed, and the headers and the 304
 * of the files (STS-32).
 */
import { Schema } from "effect"
import { StatementDetail } from "./StatementsApi.ts"

interface JsonObject {
  [key: string]: unknown
}

interface Answer {
  readonly content: Readonly<Record<string, JsonObject>>
  readonly headers: JsonObject
}

const text = (description: string) => ({ description, schema: { type: "string" } })

const fileHeaders = {
  ETag: text("The model's SHA-256 and the renderer, quoted: the bytes of a statement never change."),
  "Cache-Control": text("private")
}
const disposition = {
  "Content-Disposition": text('attachment; filename="<clientUid>-<KIND>-<from>-<to>-v<n>.<pdf or csv>", dates UTC.')
}

/** Completes the description of a statement's answers. */
export const describeStatements = (operationId: string, responses: object): void => {
  const answers = responses as Record<string, Answer>
  const found = answers["200"]
  if (found === undefined) return
  if (operationId === "statements.get") {
    const content = found.content["application/json"]
    if (content === undefined) throw new Error("a statement is answered as JSON")
    content["schema"] = Schema.toJsonSchemaDocument(StatementDetail).schema
    delete content["x-effect-stream"]
  }
  if (operationId !== "statements.pdf" && operationId !== "statements.csv") return
  for (const content of Object.values(found.content)) delete content["x-effect-stream"]
  Object.assign(found.headers, fileHeaders, disposition)
  Object.assign(responses, {
    304: { description: "If-None-Match names what would be sent.", headers: { ...found.headers } }
  })
}
