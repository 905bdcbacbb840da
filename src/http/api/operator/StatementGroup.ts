/** Statements of clients for finance: list, make, download, correct, verify (operator surface; STS-33). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { token } from "../../../machines/shared/Fields.ts"
import { pageLimits } from "../../../machines/shared/Limits.ts"
import { StatementRow } from "../../../machines/statement/Statement.ts"
import { statementKinds } from "../../../machines/statement/statementTokens.ts"
import { statementJobNames } from "../../../machines/statement/statementJobs.ts"
import { StatementBody } from "../../../machines/statement/StatementBody.ts"
import { finance, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Cursor, Limit, Reason, Reference } from "./OperatorFieldSchemas.ts"

/**
 * The verification of a statement: hashes of the stored model and of a newly rendered PDF, and whether the ledger has the
 * seal.
 */
export const StatementProof = Schema.Struct({
  statement: StatementRow,
  modelSha256: Schema.String,
  pdfSha256: Schema.String,
  /** Whether the ledger has the seal that the model names; null when the model names none. */
  sealed: Schema.NullOr(Schema.Boolean)
})

/** A scheduled job that makes statements or midnight equities; times are Unix ms. */
export const StatementJob = Schema.Struct({
  jobId: Schema.Int,
  name: Schema.Literals(statementJobNames),
  periodFrom: Schema.Int,
  periodTo: Schema.Int,
  dueAt: Schema.Int,
  startedAt: Schema.Int,
  endedAt: Schema.NullOr(Schema.Int),
  /** The numbers of processed clients, of statements or equities made, and of clients that failed and will be retried. */
  clients: Schema.Int,
  made: Schema.Int,
  failed: Schema.Int,
  /** The number of remaining clients; null once the job has ended. */
  left: Schema.NullOr(Schema.Int)
})

export const StatementJobFailure = Schema.Struct({
  jobId: Schema.Int,
  partnerId: Schema.Int,
  clientId: Schema.Int,
  tries: Schema.Int,
  retryAt: Schema.Int,
  reason: Schema.String,
  failedAt: Schema.Int
})

export class StatementGroup extends HttpApiGroup.make("statement").add(
  HttpApiEndpoint.get("list", "/clients/:client/statements", {
    params: { client: Reference },
    query: {
      kind: Schema.optionalKey(token("The kind", statementKinds)),
      limit: Limit(pageLimits.statements.max),
      before: Cursor("The cursor")
    },
    success: Answer(Schema.Struct({ statements: Schema.Array(StatementRow), nextBefore: Schema.NullOr(Schema.Int) }))
  }).pipe(openTo(finance)),
  HttpApiEndpoint.post("generate", "/clients/:client/statements", {
    params: { client: Reference },
    payload: StatementBody,
    success: Answer(StatementRow)
  }).pipe(openTo(finance)),
  HttpApiEndpoint.get("get", "/statements/:statementId/file", {
    params: { statementId: Reference },
    query: { format: token("The format", ["json", "pdf", "csv"]) },
    success: HttpApiSchema.StreamUint8Array({ contentType: "application/octet-stream" })
  }).pipe(openTo(finance)),
  HttpApiEndpoint.post("correct", "/statements/:statementId/correct", {
    params: { statementId: Reference },
    payload: Schema.Struct({ reason: Reason }),
    success: Answer(StatementRow)
  }).pipe(openTo(finance)),
  HttpApiEndpoint.get("jobs", "/statement-jobs", {
    query: { limit: Limit(pageLimits.statements.max), before: Cursor("The cursor") },
    success: Answer(
      Schema.Struct({
        jobs: Schema.Array(StatementJob),
        failures: Schema.Array(StatementJobFailure),
        next: Schema.NullOr(Schema.Struct({ name: Schema.Literals(statementJobNames), dueAt: Schema.Int })),
        hasMore: Schema.Boolean,
        nextBefore: Schema.NullOr(Schema.Int)
      })
    )
  }).pipe(openTo(finance)),
  // `:statement` is the statement's id, or the hash of its model.
  HttpApiEndpoint.get("verify", "/statements/:statement/proof", {
    params: { statement: Reference },
    success: Answer(StatementProof)
  }).pipe(openTo(finance))
) {}
