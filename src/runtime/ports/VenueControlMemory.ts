/** The venue's controls for services without a venue, and for tests: a script that records the commands. */
import { Effect, Layer } from "effect"
import type { VenueCommand, VenueView } from "../../venue/VenueCommand.ts"
import { type CommandAnswer, VenueControl, VenueControlError } from "./VenueControl.ts"

const unattached = new VenueControlError({ why: "none", detail: "no venue is attached" })

/** The controls of a service without a venue. */
export const layerNoVenueControl: Layer.Layer<VenueControl> = Layer.succeed(
  VenueControl,
  VenueControl.of({
    attached: false,
    show: Effect.fail(unattached),
    command: () => Effect.fail(unattached)
  })
)

/** The test's implementation of the venue. */
export interface VenueScript {
  show: () => VenueView | VenueControlError
  command: (command: VenueCommand) => CommandAnswer | VenueControlError
  /** The commands that the service has sent, in the order of arrival. */
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
