/**
 * A noun of a surface in one line: its part of the contract, what answers it, and the services behind that. A list of them
 * is what the dispatcher serves and the runtime is made of (features.ts).
 */
import type { Effect, Layer } from "effect"
import type { HttpApiGroup } from "effect/http-api"
import type { PartnerPrincipal, Principal } from "../../runtime/services/partners/Principal.ts"
import type { Group } from "../middleware/routes.ts"
import type { Endpoint, Handlers, Read, Write } from "./handler.ts"

/** Some endpoint's handler: which one is known by the operation it stands under. */
export type AnyRead<P extends Principal> = Read<Endpoint, P>
export type AnyWrite<P extends Principal> = Write<Endpoint, P>
export type AnyHandlers<P extends Principal> = Readonly<Record<string, AnyRead<P> | AnyWrite<P>>>

/** What a dispatcher serves: `R` is what the handlers ask for. */
export interface Served<P extends Principal, R, Name extends string = string> {
  readonly api: Group & { readonly identifier: Name }
  readonly handlers: Effect.Effect<AnyHandlers<P>, never, R>
}

/** As `Served`, with the services that the noun brings along. */
export interface Feature<P extends Principal, R, Name extends string, Services> extends Served<P, R, Name> {
  readonly layer: Services
}

/** Handlers checked against their group. */
export const handlersOf = <G extends HttpApiGroup.Constraint>(_api: G, handlers: Handlers<G>): Handlers<G> => handlers

/** A feature of the partner surface. */
export const feature = <G extends HttpApiGroup.Constraint, R, Out, E, In>(options: {
  readonly api: G
  readonly layer: Layer.Layer<Out, E, In>
  readonly handlers: Effect.Effect<Handlers<G>, never, R>
}): Feature<PartnerPrincipal, R, G["identifier"], Layer.Layer<Out, E, In>> =>
  // From here on an operation's handler and input meet by name: the dispatcher gives each what its own endpoint decodes.
  options as unknown as Feature<PartnerPrincipal, R, G["identifier"], Layer.Layer<Out, E, In>>
