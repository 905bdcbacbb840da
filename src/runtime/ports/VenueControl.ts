/**
 * The controls of the simulated venue for testers, as a port (operator surface, sim venue). Only for a sandbox: a real venue has
 * no such controls.
 */
import { Context, type Effect, Schema } from "effect"
import type { VenueCommand, VenueCommandAnswer, VenueView } from "../../venue/VenueCommand.ts"

/**
 * The reason of a failure. `none`: no venue is attached. `unreached`: nothing was done. `lost`: the command may have been done.
 * `foreign`: the other side is no simulator, or refuses this service's key. `closed`: it accepts no commands now. `refused`: it
 * refuses, with its own sentence.
 */
const causes = ["none", "unreached", "lost", "foreign", "closed", "refused"] as const

export class VenueControlError extends Schema.TaggedError<VenueControlError>()("VenueControlError", {
  why: Schema.Literals(causes),
  /** The venue's own sentence, or the known facts of the failure. */
  detail: Schema.String
}) {}

export type CommandAnswer = typeof VenueCommandAnswer.Type

export class VenueControl extends Context.Service<
  VenueControl,
  {
    /** False: no venue is attached, and every call fails with `none`. */
    readonly attached: boolean
    readonly show: Effect.Effect<VenueView, VenueControlError>
    /** Completes when the venue responds; sent once. */
    command(command: VenueCommand): Effect.Effect<CommandAnswer, VenueControlError>
  }
>()("brokerage/runtime/ports/VenueControl") {}
