/**
 * The typed client of the operator surface over TLS. Its types come from the contract, its routes from the table that is
 * generated from it: to load the contract itself would cost most of a command's processor time (decision 0038).
 */
import type { Effect, Stream } from "effect"
import type { HttpApi, HttpApiClient, HttpApiEndpoint } from "effect/http-api"
import type { IncomingMessage } from "node:http"
import { Agent, request } from "node:https"
import type { OperatorApi } from "../src/http/api/OperatorApi.ts"
import { parseExact } from "../src/machines/shared/exactJson.ts"
import { operatorRoutes, type OperatorRoute } from "./operatorRoutes.ts"
import { cliFailure, CliFailure, type Envelope, exitStatus } from "./CliIo.ts"
import type { Connection } from "./connection.ts"
import type { Would } from "./dryRun.ts"
import type { Change } from "./views/changes.ts"
import { text, type View } from "./views/View.ts"

/** One function for each command. It rejects with a CliFailure: refused (1) or unreachable (3). */
export type OperatorClient = {
  readonly [Group in Groups as Group["identifier"]]: {
    readonly [Verb in keyof Group["endpoints"]]: Call<Group["endpoints"][Verb]>
  }
}

type Groups = typeof OperatorApi extends HttpApi.HttpApi<infer _Id, infer Groups> ? Groups : never
type Call<Endpoint> = Endpoint extends HttpApiEndpoint.ConstraintRequest
  ? (
      request: HttpApiEndpoint.ClientRequest<
        Endpoint["~Params"],
        Endpoint["~Query"],
        Endpoint["~Payload"],
        Endpoint["~Headers"],
        "decoded-only",
        never
      >
    ) => Promise<Received<HttpApiClient.Client.MethodReturn<Endpoint, never, never, "decoded-only", never>>>
  : never
type Received<Returned> =
  Returned extends Effect.Effect<infer A, infer _E, infer _R>
    ? A extends Stream.Stream<infer Chunk, infer _SE, infer _SR>
      ? AsyncIterable<Chunk>
      : A
    : never

/** A successful answer: the envelope with code 0, and the members that a command that writes adds to it. */
export interface Success<A> {
  readonly code: 0
  readonly data: A
  /** The changes that a dry run of the command would write; absent when the command really runs. */
  readonly dryRun?: Would
  /** The changes of a command that writes: made, or planned in a dry run. */
  readonly changes?: ReadonlyArray<Change>
}

/** Runs calls on a connection. Rejects with a CliFailure: refused (1) or unreachable (3). */
export type CallService = <A>(connection: Connection, use: (client: OperatorClient) => Promise<A>) => Promise<A>

/** For a command with one call: all sockets close after the call. */
export const callService: CallService = async (connection, use) => {
  const agent = agentOf(connection, false)
  try {
    return await use(clientOf(connection, agent))
  } finally {
    agent.destroy()
  }
}

/**
 * For a command with many calls, because the TLS handshake costs more than a call. The sockets of each connection stay open
 * until `close`.
 */
export const keepServices = (): { readonly call: CallService; readonly close: () => void } => {
  const kept = new Map<string, { readonly agent: Agent; readonly client: OperatorClient }>()
  const opened = (connection: Connection): OperatorClient => {
    const { url, operatorKey, ca, dryRun } = connection
    const name = JSON.stringify([url, operatorKey, ca, dryRun])
    const known = kept.get(name)
    if (known !== undefined) return known.client
    const agent = agentOf(connection, true)
    const client = clientOf(connection, agent)
    kept.set(name, { agent, client })
    return client
  }
  return {
    call: (connection, use) => use(opened(connection)),
    close: () => {
      for (const { agent } of kept.values()) agent.destroy()
      kept.clear()
    }
  }
}

const agentOf = ({ ca }: Connection, keepAlive: boolean): Agent =>
  new Agent({ keepAlive, ...(ca === null ? {} : { ca }) })

/** The members of a call, as the contract types them. */
interface Given {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly payload?: Readonly<Record<string, unknown>>
}

const clientOf = (connection: Connection, agent: Agent): OperatorClient => {
  const verbs = (noun: string) =>
    new Proxy(
      {},
      {
        get:
          (_, verb) =>
          (given: Given = {}) =>
            call(connection, agent, routeOf(`${noun} ${String(verb)}`), given)
      }
    )
  return new Proxy({}, { get: (_, noun) => verbs(String(noun)) }) as OperatorClient
}

const routeOf = (command: string): OperatorRoute => {
  const route = operatorRoutes[command]
  if (route === undefined) throw new Error(`the operator contract has no ${command}: run npm run generate`)
  return route
}

const call = async (connection: Connection, agent: Agent, route: OperatorRoute, given: Given): Promise<unknown> => {
  const isGet = route.method === "GET"
  const response = await send(connection, agent, route, given)
  const { statusCode = 0 } = response
  const isDone = statusCode >= 200 && statusCode < 300
  const { answer: shape } = route
  if (isDone && shape === "bytes") return bytesOf(response)
  const chunks: Array<Uint8Array> = []
  for await (const chunk of bytesOf(response, isGet)) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString("utf8")
  if (isDone && shape === "text") return text
  // Numbers of an answer keep their digits, and objects the order of their members.
  const answer = isDone ? parsed(parseExact, text) : parsed(JSON.parse, text)
  if (isDone && isRecord(answer) && answer.code === 0 && isOfShape(answer.data, shape)) return answer
  if (isDone || !isEnvelope(answer)) throw strange
  throw new CliFailure(exitStatus.refused, plain(answer), answer.code === wrongKey ? refusedKey(connection) : null)
}

const wrongKey = 4010

/** The source of a refused operator key, and the ways to a valid key. */
const refusedKey = ({ url, keySource = "The operator key" }: Connection): View =>
  text(
    `${keySource} is not accepted by the service at ${url}: it belongs to another service, or it is revoked. An ADMIN lists keys with operator list and makes one with operator create. The first key of a service is in the file operator.key of its data directory.`
  )

/** Sends the request. The service validates its fields, with sentences for operators. */
const send = (
  { url, operatorKey, dryRun }: Connection,
  agent: Agent,
  { method, path, query, payload }: OperatorRoute,
  given: Given
): Promise<IncomingMessage> => {
  const target = new URL(`${url}${path.replaceAll(/:(\w+)/g, (_, name: string) => segment(given.params?.[name]))}`)
  for (const [name, value] of Object.entries(picked(given.query, query)))
    target.searchParams.append(name, String(value))
  if (dryRun === true) target.searchParams.set("dryRun", "true")
  const body = given.payload === undefined || payload === null ? "" : JSON.stringify(picked(given.payload, payload))
  const headers = {
    authorization: `Bearer ${operatorKey}`,
    accept: "application/json",
    ...(body === "" ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
  }
  return new Promise((resolve, reject) => {
    const sent = request(target, { agent, method, headers }, resolve)
    sent.on("error", (error) => reject(failureOf(error, method === "GET")))
    sent.end(body)
  })
}

const segment = (value: string | undefined): string => {
  // A URL removes dots even when they are encoded, and an empty segment would select another route.
  if (value === undefined || ["", ".", ".."].includes(value)) throw noName
  return encodeURIComponent(value)
}

const noName = cliFailure(
  exitStatus.usage,
  4000,
  "An id or a name can't be empty, a dot or two dots. Nothing was sent."
)

/** The members that the contract has, in its order: a command may have options that the service does not know. */
const picked = (values: Readonly<Record<string, unknown>> = {}, names: ReadonlyArray<string>): object =>
  Object.fromEntries(names.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])))

/** The body of an answer in pieces. When the connection breaks, it rejects with a CliFailure. */
async function* bytesOf(response: IncomingMessage, isGet = true): AsyncGenerator<Uint8Array> {
  try {
    yield* response as AsyncIterable<Uint8Array>
  } catch (error) {
    throw failureOf(error, isGet)
  }
}

/** The value of a JSON text; undefined when it is none. */
const parsed = (parse: (text: string) => unknown, text: string): unknown => {
  try {
    return parse(text)
  } catch {
    return undefined
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** True when the value has every member that views of this version may read. */
const isOfShape = (value: unknown, shape: OperatorRoute["answer"]): boolean =>
  typeof shape !== "object"
    ? value !== undefined
    : Array.isArray(shape)
      ? Array.isArray(value) && value.every((each) => isOfShape(each, shape[0]))
      : isRecord(value) && Object.entries(shape).every(([name, member]) => isOfShape(value[name], member))

const isEnvelope = (value: unknown): value is Envelope =>
  isRecord(value) && typeof value.code === "number" && typeof value.msg === "string"

const plain = ({ code, msg, error, data }: Envelope): Envelope =>
  data === undefined ? { code, msg, error } : { code, msg, error, data }

const strange = cliFailure(
  exitStatus.unreachable,
  5030,
  "The address answers, but not as the brokerage of this version. Check --url."
)

/** The connection broke during the call, so a command that writes may have run. */
const broken = new CliFailure(exitStatus.unreachable, {
  code: 5030,
  msg: "The connection broke before the answer came: check the audit before repeating the command.",
  error: "The connection broke before the answer came: check the audit before repeating the command.",
  data: { outcomeUnknown: true }
})

const failureOf = (error: unknown, isGet: boolean): CliFailure => {
  const code = String((error as { readonly code?: unknown }).code ?? "")
  if (!isGet && (code === "ECONNRESET" || code === "EPIPE")) return broken
  const isTrustError = code.includes("CERT") || code.includes("SIGNATURE") || code.includes("ISSUER")
  return cliFailure(
    exitStatus.unreachable,
    5030,
    isTrustError
      ? "The certificate of the service is not trusted: name its authority with --ca."
      : "The service can not be reached. Is it running?"
  )
}
