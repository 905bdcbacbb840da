/**
 * What a tester does to the simulated venue, as a port (operator surface, sim venue). A sandbox's alone: no real venue has
 * such controls.
 */
import { Context, type Effect, Schema } from "effect"
import type { VenueCommand, VenueCommandAnswer, VenueView } from "../../venue/VenueCommand.ts"

/**
 * Why there is no answer. `none`: no venue is attached. `unreached`: nothing was done. `lost`: it may have been done. `foreign`:
 * what answers is no simulator, or lets this service not in. `closed`: it does nothing now. `refused`: it won't, in its words.
 */
const causes = ["none", "unreached", "lost", "foreign", "closed", "refused"] as const

export class VenueControlError extends Schema.TaggedError<VenueControlError>()("VenueControlError", {
  why: Schema.Literals(causes),
  /** The venue's own, or what is known of the failure. */
  words: Schema.String
}) {}

export type CommandAnswer = typeof VenueCommandAnswer.Type

export class VenueControl extends Context.Service<
  VenueControl,
  {
    /** False: no venue is attached, and everything fails with `none`. */
    readonly attached: boolean
    readonly show: Effect.Effect<VenueView, VenueControlError>
    /** Done when it answers; sent once. */
    command(command: VenueCommand): Effect.Effect<CommandAnswer, VenueControlError>
  }
>()("brokerage/runtime/ports/VenueControl") {}
