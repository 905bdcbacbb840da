/** Progress as it is given: at once where no events are taken, or when a test says so. */
import { Effect, Layer } from "effect"
import { VenueProgress } from "./VenueProgress.ts"

export const layerVenueProgressMemory = (
  reached: (number: number) => Effect.Effect<void> = () => Effect.void,
  isAt: (number: number) => boolean = () => true
): Layer.Layer<VenueProgress> => Layer.succeed(VenueProgress, VenueProgress.of({ reached, isAt }))
