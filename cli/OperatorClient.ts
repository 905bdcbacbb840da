/**
 * The typed client of the operator surface over TLS, made from the contract. It is loaded only for a command that calls the
 * service, so that help and local commands start fast.
 */
import { NodeHttpClient } from "@effect/platform-node"
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { HttpApi, HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { OperatorApi } from "../src/http/api/OperatorApi.ts"
import { OperatorAuthorization } from "../src/http/api/operator/OperatorSecurity.ts"
import { parseExact, restoreExact } from "../src/machines/shared/exactJson.ts"
import { type CliFailure, cliFailure, CliFailure as Failure, type Envelope, exitStatus } from "./CliIo.ts"
import type { Connection } from "./connection.ts"
import type { Would } from "./dryRun.ts"
import type { Change } from "./views/changes.ts"

export type OperatorClient = HttpApiClient.ForApi<typeof OperatorApi>

/** A successful answer: the envelope with code 0, and the members that a command that writes adds to it. */
export interface Success<A> {
  readonly code: 0
  readonly data: A
  /** The changes that a dry run of the command would write; absent when the command really runs. */
  readonly dryRun?: Would
  /** The changes of a command that writes: made, or planned in a dry run. */
  readonly changes?: ReadonlyArray<Change>
}

/**
 * The contract without the client's own validation: the service validates the fields after the role check, with sentences for
 * operators.
 */
const unchecked = OperatorApi.annotate(HttpApi.PayloadParseOptions, { disableChecks: true }).annotate(
  HttpApi.QueryParseOptions,
  { disableChecks: true }
)

/** Runs calls on a connection. Rejects with a CliFailure: refused (1) or unreachable (3). */
export type CallService = <A>(
  connection: Connection,
  use: (client: OperatorClient) => Effect.Effect<A, unknown>
) => Promise<A>

/** For a command with one call: all sockets close after the call. */
export const callService: CallService = (connection, use) =>
  answerOf(Effect.scoped(Effect.flatMap(openClient(connection, false), use)))

/**
 * For a command with many calls, because building the client and the TLS handshake cost more than a call. Each connection has
 * one client, and its sockets stay open until `close`.
 */
export const keepServices = (): { readonly call: CallService; readonly close: () => Promise<void> } => {
  const scope = Scope.makeUnsafe()
  const clients = new Map<string, Promise<OperatorClient>>()
  const clientOf = (connection: Connection): Promise<OperatorClient> => {
    const { url, operatorKey, ca, dryRun } = connection
    const name = JSON.stringify([url, operatorKey, ca, dryRun])
    const known = clients.get(name)
    if (known !== undefined) return known
    const made = Effect.runPromise(Scope.provide(openClient(connection, true), scope))
    clients.set(name, made)
    return made
  }
  return {
    call: async (connection, use) => answerOf(use(await clientOf(connection))),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

const openClient = (
  { url, operatorKey, ca, dryRun }: Connection,
  keepAlive: boolean
): Effect.Effect<OperatorClient, never, Scope.Scope> => {
  const key = Redacted.make(operatorKey)
  const authorization = HttpApiMiddleware.layerClient(OperatorAuthorization, ({ next, request }) =>
    next(
      HttpClientRequest.bearerToken(
        dryRun === true ? HttpClientRequest.setUrlParam(request, "dryRun", "true") : request,
        key
      )
    )
  )
  const agent = NodeHttpClient.layerNodeHttpOptions({ keepAlive, ...(ca === null ? {} : { ca }) })
  return Effect.flatMap(Layer.build(Layer.merge(authorization, agent)), (context) =>
    Effect.provideContext(HttpApiClient.make(unchecked, { baseUrl: url, ...exactly }), context)
  )
}

/** The raw body of the answer that is being decoded. */
const Body = Context.Reference<{ text: string }>("brokerage/cli/Body", { defaultValue: () => ({ text: "" }) })

/** Restores the digits of numbers and the order of members, which the client's decoder loses. */
const exactly = {
  transformClient: HttpClient.transformResponse(
    Effect.map(
      (response: HttpClientResponse.HttpClientResponse): HttpClientResponse.HttpClientResponse =>
        new Proxy(response, {
          get: (_, name) => (name === "arrayBuffer" && isJson(response) ? keepBody(response) : member(response, name))
        })
    )
  ),
  transformResponse: <A, E, R>(decoded: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const body = { text: "" }
      return Effect.tap(Effect.provideService(decoded, Body, body), (answer) =>
        Effect.sync(() => {
          if (body.text !== "") restoreExact(answer, parseExact(body.text))
        })
      )
    })
}

/** Whether an answer is JSON; metrics and files are not. */
const isJson = ({ headers }: HttpClientResponse.HttpClientResponse): boolean =>
  headers["content-type"]?.startsWith("application/json") === true

const keepBody = ({
  arrayBuffer
}: HttpClientResponse.HttpClientResponse): HttpClientResponse.HttpClientResponse["arrayBuffer"] =>
  Effect.tap(arrayBuffer, (bytes) => Effect.map(Body, (body) => void (body.text = new TextDecoder().decode(bytes))))

const member = (response: HttpClientResponse.HttpClientResponse, name: string | symbol): unknown => {
  const found: unknown = Reflect.get(response, name, response)
  return typeof found === "function" ? found.bind(response) : found
}

const answerOf = async <A>(program: Effect.Effect<A, unknown>): Promise<A> => {
  const result = await Effect.runPromise(
    Effect.result(Effect.catch(program, (error) => Effect.flatMap(failureOf(error), Effect.fail)))
  )
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
  // A status outside the contract is still a refusal when its body is an envelope.
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

/** The connection broke during the call, so a command that writes may have run. */
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
