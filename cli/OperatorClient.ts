/**
 * The typed client of the operator surface over TLS, made from the contract. Loaded only when a command calls the
 * service, so that help and local commands start at once.
 */
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer, Redacted } from "effect"
import { HttpClientRequest } from "effect/http"
import { HttpApi, HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { OperatorApi } from "../src/http/api/OperatorApi.ts"
import { OperatorAuthorization } from "../src/http/api/operator/OperatorSecurity.ts"
import { type CliFailure, cliFailure, CliFailure as Failure, type Envelope, exitStatus } from "./CliIo.ts"
import type { Connection } from "./connection.ts"
import type { Would } from "./dryRun.ts"

export type OperatorClient = HttpApiClient.ForApi<typeof OperatorApi>

/** What a call answers on success. */
export interface Success<A> {
  readonly code: 0
  readonly data: A
  /** In a dry run: what would have been written. */
  readonly dryRun?: Would
}

/** The service judges fields, after the role: its sentences are the ones an operator reads. */
const unchecked = OperatorApi.annotate(HttpApi.PayloadParseOptions, { disableChecks: true }).annotate(
  HttpApi.QueryParseOptions,
  { disableChecks: true }
)

/** Runs calls on one connection. Rejects with a CliFailure: refused (1) or unreachable (3). */
export const callService = async <A>(
  { url, operatorKey, ca, dryRun }: Connection,
  use: (client: OperatorClient) => Effect.Effect<A, unknown>
): Promise<A> => {
  const key = Redacted.make(operatorKey)
  const authorization = HttpApiMiddleware.layerClient(OperatorAuthorization, ({ next, request }) =>
    next(
      HttpClientRequest.bearerToken(
        dryRun === true ? HttpClientRequest.setUrlParam(request, "dryRun", "true") : request,
        key
      )
    )
  )
  const program = HttpApiClient.make(unchecked, { baseUrl: url }).pipe(
    Effect.flatMap(use),
    Effect.provide(Layer.merge(authorization, NodeHttpClient.layerNodeHttpOptions(ca === null ? {} : { ca }))),
    Effect.catch((error) => Effect.flatMap(failureOf(error), Effect.fail)),
    Effect.result
  )
  const result = await Effect.runPromise(program)
  if (result._tag === "Failure") throw result.failure
  return result.success
}

interface HttpFailure {
  readonly _tag: "HttpClientError"
  readonly reason: {
    readonly _tag: string
    readonly request?: { readonly method: string }
    readonly cause?: unknown
    readonly response?: Answered
  }
}

interface Answered {
  readonly status: number
  readonly json: Effect.Effect<unknown, unknown>
}

const failureOf = (error: unknown): Effect.Effect<CliFailure> => {
  if (isEnvelope(error)) return Effect.succeed(new Failure(exitStatus.refused, plain(error)))
  if ((error as HttpFailure)?._tag !== "HttpClientError") return Effect.succeed(strange)
  const { reason } = error as HttpFailure
  const { response } = reason
  if (response === undefined) {
    const wrote = reason.request?.method !== "GET"
    return Effect.succeed(wrote && isBroken(reason.cause) ? broken : unreachable(reason.cause))
  }
  // A status that the contract does not name: still a refusal when it carries the envelope.
  return Effect.match(response.json, {
    onSuccess: (body) => (isEnvelope(body) ? new Failure(exitStatus.refused, plain(body)) : strange),
    onFailure: () => strange
  })
}

const isEnvelope = (value: unknown): value is Envelope =>
  typeof value === "object" &&
  value !== null &&
  typeof (value as Envelope).code === "number" &&
  typeof (value as Envelope).msg === "string"

const plain = ({ code, msg, error, data }: Envelope): Envelope =>
  data === undefined ? { code, msg, error } : { code, msg, error, data }

const strange = cliFailure(
  exitStatus.unreachable,
  5030,
  "The address answers, but not as the brokerage of this version. Check --url."
)

/** The connection was there and went away: a command that writes may have been done. */
const broken = new Failure(exitStatus.unreachable, {
  code: 5030,
  msg: "The connection broke before the answer came: check the audit before repeating the command.",
  error: "The connection broke before the answer came: check the audit before repeating the command.",
  data: { outcomeUnknown: true }
})

const isBroken = (cause: unknown): boolean =>
  ["ECONNRESET", "EPIPE"].includes(String((cause as { readonly code?: unknown } | undefined)?.code ?? ""))

const unreachable = (cause: unknown): CliFailure =>
  cliFailure(
    exitStatus.unreachable,
    5030,
    isTrustError(cause)
      ? "The certificate of the service is not trusted: name its authority with --ca."
      : "The service can not be reached. Is it running?"
  )

const isTrustError = (cause: unknown): boolean => {
  const code = String((cause as { readonly code?: unknown } | undefined)?.code ?? "")
  return code.includes("CERT") || code.includes("SIGNATURE") || code.includes("ISSUER")
}
