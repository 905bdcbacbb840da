/**
 * Statements of one client: request, list, read with the model, download as PDF and CSV. The first three are bare (doc 2,
 * Statements; A2-65, A2-66, STS-15, STS-16, STS-31, STS-32).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { bodyCaps, pageBudget, pageLimits } from "../../machines/shared/Limits.ts"
import { StatementRow } from "../../machines/statement/Statement.ts"
import { statementKinds } from "../../machines/statement/statementTokens.ts"
import { StatementBody } from "../../machines/statement/StatementBody.ts"
import { bare } from "./Envelope.ts"
import { idempotencyHeaders } from "./IdempotencyKey.ts"
import { clientParams, pageParams, pathId, tokenParam } from "./Parameters.ts"
import { heavyRead, RouteRules } from "./RouteRules.ts"
import { BadRequest, Conflict } from "./WireErrors.ts"

/** A statement with its model. The answer is streamed from the store, so this schema only describes it. */
export const StatementDetail = Schema.Struct({
  ...StatementRow.fields,
  model: Schema.Record(Schema.String, Schema.Json).annotate({
    description:
      "What the statement says, in canonical form (RFC 8785): its text, from its first brace to its last, has the SHA-256 in sha256."
  })
}).annotate({ description: "Success; this route has no envelope." })

const params = { ...clientParams, sid: pathId("The statement's id.") }
const long = { idempotent: false, reliance: false, bodyCap: 0, time: "long" } as const

export class StatementsApi extends HttpApiGroup.make("statements")
  .add(
    HttpApiEndpoint.get("list", "/clients/:clientId/statements", {
      params: clientParams,
      query: {
        ...pageParams(pageLimits.statements),
        kind: tokenParam("kind", statementKinds, "Only statements of this kind.")
      },
      success: bare(Schema.Struct({ statements: Schema.Array(StatementRow) })),
      error: BadRequest
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Statements of a client, newest first",
        description: "All versions, of closed accounts too. A Link header with rel=next when there are more."
      })
    ),
    HttpApiEndpoint.post("generate", "/clients/:clientId/statements", {
      params: clientParams,
      headers: idempotencyHeaders,
      payload: StatementBody,
      success: bare(StatementRow),
      error: [BadRequest, Conflict]
    })
      .annotate(RouteRules, { idempotent: true, reliance: false, bodyCap: bodyCaps.statement })
      .annotateMerge(
        OpenApi.annotations({
          summary: "Make a statement",
          description:
            "The same period with the same content answers the statement that is there; other content makes the next version. At most 30 are built for a client in an hour (429), two at a time and four waiting for a partner (503); a build that takes longer than 20 seconds answers 503 and goes on: ask again. A statement has at most 250,000 rows."
        })
      ),
    HttpApiEndpoint.get("get", "/clients/:clientId/statements/:sid", {
      params,
      success: HttpApiSchema.StreamUint8Array({ contentType: "application/json" })
    })
      .annotate(RouteRules, heavyRead(pageBudget.share / 4, { time: "long" }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "A statement with its model",
          description:
            "The row of the list and the model as it was stored: the same text for ever, whose SHA-256 is sha256."
        })
      ),
    HttpApiEndpoint.get("pdf", "/clients/:clientId/statements/:sid/pdf", {
      params,
      success: HttpApiSchema.StreamUint8Array({ contentType: "application/pdf" })
    })
      .annotate(RouteRules, long)
      .annotateMerge(
        OpenApi.annotations({
          summary: "A statement as PDF",
          description:
            "An attachment, always of the same bytes. ETag and If-None-Match: 304 for who has it. Its footer has the model's SHA-256."
        })
      ),
    HttpApiEndpoint.get("csv", "/clients/:clientId/statements/:sid/csv", {
      params,
      success: HttpApiSchema.StreamUint8Array({ contentType: "text/csv; charset=utf-8; header=present" })
    })
      .annotate(RouteRules, long)
      .annotateMerge(
        OpenApi.annotations({
          summary: "A statement as CSV",
          description:
            "An attachment (RFC 4180). ETag and If-None-Match: 304 for who has it. A text that begins like a formula has an apostrophe before it; numbers, times and ids never do."
        })
      )
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Statements", description: "What an account says of a period, the same for ever." })
  ) {}
