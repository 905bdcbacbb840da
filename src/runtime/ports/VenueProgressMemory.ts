/** Given progress: reached at once for a service without events, or when a test sets it. A test gives each account's sequence. */
import { Effect, Layer } from "effect"
import { VenueProgress } from "./VenueProgress.ts"

export const layerVenueProgressMemory = (
  reached: (number: number) => Effect.Effect<void> = () => Effect.void,
  isAt: (number: number) => boolean = () => true,
  readAccount: (account: string) => Effect.Effect<number> = () => Effect.succeed(Number.POSITIVE_INFINITY)
): Layer.Layer<VenueProgress> => Layer.succeed(VenueProgress, VenueProgress.of({ reached, isAt, readAccount }))
