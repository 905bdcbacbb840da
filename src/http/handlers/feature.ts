/**
 * A noun of a surface in one line: its part of the contract and what answers it. A list of them is what the dispatcher
 * serves (features.ts).
 */
import type { Effect } from "effect"
import type { HttpApiGroup } from "effect/http-api"
import type { PartnerPrincipal, Principal } from "../../runtime/services/shared/Principal.ts"
import type { Group } from "../middleware/routes.ts"
import type { Endpoint, Handlers, Read, Write } from "./handler.ts"

/** Some endpoint's handler: which one is known by the operation it stands under. */
export type AnyRead<P extends Principal> = Read<Endpoint, P>
export type AnyWrite<P extends Principal> = Write<Endpoint, P>
export type AnyHandlers<P extends Principal> = Readonly<Record<string, AnyRead<P> | AnyWrite<P>>>

export interface Feature<P extends Principal, R, Name extends string = string> {
  readonly api: Group & { readonly identifier: Name }
  readonly handlers: Effect.Effect<AnyHandlers<P>, never, R>
}

/** Handlers checked against their group. */
export const handlersOf = <G extends HttpApiGroup.Constraint>(_api: G, handlers: Handlers<G>): Handlers<G> => handlers

/** A feature of the partner surface. */
export const feature = <G extends HttpApiGroup.Constraint, R>(options: {
  readonly api: G
  readonly handlers: Effect.Effect<Handlers<G>, never, R>
}): Feature<PartnerPrincipal, R, G["identifier"]> =>
  // From here on an operation's handler and input meet by name: the dispatcher gives each what its own endpoint decodes.
  options as unknown as Feature<PartnerPrincipal, R, G["identifier"]>
