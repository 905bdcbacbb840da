/** Halts in memory: those given, which a test may change. With none given nothing is ever halted here. */
import { Layer } from "effect"
import { type TradingHalt, TradingHalts } from "./TradingHalts.ts"

export const layerTradingHaltsMemory = (halts: ReadonlyArray<TradingHalt> = []): Layer.Layer<TradingHalts> =>
  Layer.succeed(TradingHalts, { active: () => halts })
