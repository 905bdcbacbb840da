/** Controls without a venue: none at all, or a script that keeps what it was sent. */
import { Effect, Layer } from "effect"
import type { VenueCommand, VenueView } from "../../venue/VenueCommand.ts"
import { type CommandAnswer, VenueControl, VenueControlError } from "./VenueControl.ts"

const unattached = new VenueControlError({ why: "none", words: "no venue is attached" })

/** Of a service without a venue. */
export const layerNoVenueControl: Layer.Layer<VenueControl> = Layer.succeed(
  VenueControl,
  VenueControl.of({
    attached: false,
    show: Effect.fail(unattached),
    command: () => Effect.fail(unattached)
  })
)

/** What a test plays the venue with. */
export interface VenueScript {
  show: () => VenueView | VenueControlError
  command: (command: VenueCommand) => CommandAnswer | VenueControlError
  /** In the order in which they came. */
  readonly sent: Array<VenueCommand>
}

export const layerVenueControlMemory = (script: VenueScript): Layer.Layer<VenueControl> =>
  Layer.succeed(
    VenueControl,
    VenueControl.of({
      attached: true,
      show: Effect.suspend(() => orFail(script.show())),
      command: (command) =>
        Effect.suspend(() => {
          script.sent.push(command)
          return orFail(script.command(command))
        })
    })
  )

const orFail = <A>(answer: A | VenueControlError): Effect.Effect<A, VenueControlError> =>
  answer instanceof VenueControlError ? Effect.fail(answer) : Effect.succeed(answer)
