/** The whole service without its sockets: the runtime, the services of all features, and the workers. */
import { Layer } from "effect"
import { layerRuntime, layerWorkers, type RuntimeOptions } from "../runtime/Runtime.ts"
import { partnerServices } from "./features.ts"

export const layerService = (options: RuntimeOptions) =>
  layerWorkers(options).pipe(Layer.provideMerge(partnerServices), Layer.provideMerge(layerRuntime(options)))
