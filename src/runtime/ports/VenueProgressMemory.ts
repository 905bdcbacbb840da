/**
 * The progress of the venue's events, given by the caller. Without arguments every event counts as applied, for a service without
 * a venue. A test passes functions that report and await its own progress.
 */
import { Effect, Layer } from "effect"
import { VenueProgress } from "./VenueProgress.ts"

export const layerVenueProgressMemory = (
  reached: (number: number) => Effect.Effect<void> = () => Effect.void,
  isAt: (number: number) => boolean = () => true,
  readAccount: (account: string, to: number) => Effect.Effect<number> = () => Effect.succeed(Number.POSITIVE_INFINITY)
): Layer.Layer<VenueProgress> => Layer.succeed(VenueProgress, VenueProgress.of({ reached, isAt, readAccount }))
