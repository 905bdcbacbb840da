/**
 * The controls of the simulated venue for testers, as a port (operator surface, sim venue). Only for a sandbox: a real venue has
 * no such controls.
 */
import { Context, type Effect, Schema } from "effect"
import type { VenueCommand, VenueCommandAnswer, VenueView } from "../../venue/VenueCommand.ts"

/**
 * The reason of a failure. `none`: no venue is attached. `unreached`: nothing was done. `lost`: the command may have
 * been done. `foreign`: the address is that of no simulator, or the simulator refuses this service's key. `closed`:
 * the simulator accepts no commands now. `refused`: the simulator refuses the command, with its own sentence.
 */
const causes = ["none", "unreached", "lost", "foreign", "closed", "refused"] as const

export class VenueControlError extends Schema.TaggedError<VenueControlError>()("VenueControlError", {
  why: Schema.Literals(causes),
  /** A sentence: the venue's own, or what is known about the failure. */
  detail: Schema.String
}) {}

export type CommandAnswer = typeof VenueCommandAnswer.Type

export class VenueControl extends Context.Service<
  VenueControl,
  {
    /** False without a venue: every call then fails with `none`. */
    readonly attached: boolean
    readonly show: Effect.Effect<VenueView, VenueControlError>
    /** Sends the command once, and completes with the venue's answer. */
    command(command: VenueCommand): Effect.Effect<CommandAnswer, VenueControlError>
  }
>()("brokerage/runtime/ports/VenueControl") {}
