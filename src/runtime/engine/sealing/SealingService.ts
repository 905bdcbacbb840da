/** The process's Sealing as a service, so that stores and services decode rows without passing keys as parameters. */
import { Context, Layer } from "effect"
import type { Sealing } from "./Sealing.ts"

export class SealingService extends Context.Service<SealingService, Sealing>()(
  "brokerage/runtime/engine/sealing/SealingService"
) {
  static readonly layer = (sealing: Sealing): Layer.Layer<SealingService> => Layer.succeed(SealingService, sealing)
}
