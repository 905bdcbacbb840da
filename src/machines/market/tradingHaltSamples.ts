/** The events of a trading halt, with and without an end: path tests and diagrams use them (A2-11). */
import type { TradingHaltEvent, TradingHaltInput } from "./TradingHalt.ts"

const halted = { haltId: 1, scope: "ALL", message: "Maintenance.", since: 0 } as const

export const openHalt: TradingHaltInput = { ...halted, until: null }
export const boundedHalt: TradingHaltInput = { ...halted, until: 1_000 }

export const tradingHaltSamples: ReadonlyArray<TradingHaltEvent> = [
  { type: "CHANGE", at: 1, message: "Longer maintenance.", until: 2_000 },
  { type: "CHANGE", at: 1, message: "Open end.", until: null },
  { type: "RESUME", at: 2 },
  { type: "ELAPSE", at: 3 }
]
