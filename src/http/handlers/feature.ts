/**
 * One feature of a surface: its group of the contract, the handlers, and the services behind them. The dispatcher serves a list
 * of features, and the runtime builds their services (features.ts).
 */
import type { Effect, Layer } from "effect"
import type { HttpApiGroup } from "effect/http-api"
import type { PartnerPrincipal, Principal } from "../../runtime/services/partners/Principal.ts"
import type { Group } from "../middleware/routes.ts"
import type { Endpoint, Handlers, Read, Write } from "./handler.ts"

/** Types of handlers whose endpoint is not known to the compiler. The name of the operation finds the endpoint. */
export type AnyRead<P extends Principal> = Read<Endpoint, P>
export type AnyWrite<P extends Principal> = Write<Endpoint, P>
export type AnyHandlers<P extends Principal> = Readonly<Record<string, AnyRead<P> | AnyWrite<P>>>

/** A part of the contract with its handlers; `R` is the services that the handlers need. */
export interface Served<P extends Principal, R, Name extends string = string> {
  readonly api: Group & { readonly identifier: Name }
  readonly handlers: Effect.Effect<AnyHandlers<P>, never, R>
}

/** A `Served` part together with the layer of its services. */
export interface Feature<P extends Principal, R, Name extends string, Services> extends Served<P, R, Name> {
  readonly layer: Services
}

/** Returns the handlers unchanged; the compiler checks them against their group. */
export const handlersOf = <G extends HttpApiGroup.Constraint>(_api: G, handlers: Handlers<G>): Handlers<G> => handlers

/** Makes a part of the surface of `P`; the compiler checks its handlers against its group. */
export const partOf = <P extends Principal, G extends HttpApiGroup.Constraint, R>(part: {
  readonly api: G
  readonly handlers: Effect.Effect<Handlers<G, P>, never, R>
}): Served<P, R, G["identifier"]> =>
  // The operation's name connects handler and input from here on: the dispatcher passes each handler the input that the
  // handler's own endpoint decodes.
  part as unknown as Served<P, R, G["identifier"]>

/** Makes a feature of the partner surface with its services. */
export const feature = <G extends HttpApiGroup.Constraint, R, Out, E, In>(options: {
  readonly api: G
  readonly layer: Layer.Layer<Out, E, In>
  readonly handlers: Effect.Effect<Handlers<G>, never, R>
}): Feature<PartnerPrincipal, R, G["identifier"], Layer.Layer<Out, E, In>> => ({
  ...partOf<PartnerPrincipal, G, R>(options),
  layer: options.layer
})
