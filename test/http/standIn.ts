/**
 * A feature's part of the contract without its services: each endpoint returns a value of its success schema, drawn
 * with a fixed seed. Gates, queries, idempotency, envelope and rendering are the real ones.
 */
import { Arbitrary, Effect, type Schema, Stream } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { partnerPrefix } from "../../src/http/api/PartnerApi.ts"
import type { AnyRead, AnyWrite, Served } from "../../src/http/handlers/feature.ts"
import { done, orUnknown, writeAs } from "../../src/http/handlers/handler.ts"
import type { AnswerForm } from "../../src/http/middleware/answers.ts"
import { type Group, RouteTable } from "../../src/http/middleware/routes.ts"
import { accept } from "../../src/machines/shared/Refusal.ts"
import type { DispatchError, StoreAnswer } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import type { PartnerPrincipal } from "../../src/runtime/services/partners/Principal.ts"

/** The shared state of all stand-ins of a server. */
interface Behind {
  /** Whether the client exists. */
  readonly owns: (clientId: number) => boolean
  /** A read's value; fails if reads are set to fail. */
  readonly read: <A>(value: () => A) => Effect.Effect<A, DispatchError>
  /** A write's verdict, stored and counted. */
  readonly written: <A>(body: unknown, verdict: A, store: StoreAnswer<A>) => Effect.Effect<A, DispatchError>
}

export const standIn = (
  api: Group & { readonly identifier: string },
  behind: Behind
): Served<PartnerPrincipal, never> => {
  const handlers: Record<string, AnyRead<PartnerPrincipal> | AnyWrite<PartnerPrincipal>> = {}
  for (const { operation, method, form, ofClient } of new RouteTable(partnerPrefix, [api]).routes) {
    const name = operation.slice(api.identifier.length + 1)
    const endpoint = api.endpoints[name]
    if (!HttpApiEndpoint.isHttpApiEndpoint(endpoint)) throw new Error(`${operation} is no endpoint`)
    const [success] = endpoint.success
    if (success === undefined) throw new Error(`${operation} answers nothing`)
    const data = dataOf(operation, success, form)
    const reply = () => done(data, form.statuses[0])
    handlers[name] =
      method === "GET"
        ? ({ params }) => behind.read(() => (ofClient && !behind.owns(clientOf(params)) ? orUnknown(null) : reply()))
        : writeAs(reply, ({ body }, store) => behind.written(body, accept(data), store))
  }
  return { api, handlers: Effect.succeed(handlers) }
}

/** Parameters of a route of one client. */
const clientOf = (params: unknown): number => (params as { readonly clientId: number }).clientId

const dataOf = (operation: string, success: Schema.Top, { kind, enveloped, contentType }: AnswerForm): unknown => {
  if (kind === "stream") {
    const text = contentType === "application/json" ? JSON.stringify({ operation }) : operation
    return Stream.succeed(Buffer.from(text))
  }
  const [answer] = samplesOf(success, operation, 1)
  return enveloped ? (answer as { readonly data: unknown }).data : answer
}

/** Values of a schema, the same for the same seed. */
export const samplesOf = (schema: Schema.Top, seed: string, count: number): ReadonlyArray<unknown> =>
  Effect.runSync(Arbitrary.sampleEffect(Arbitrary.schema(schema), { seed, count }))
