/** The transitions of a trading halt as literal rows (A2-11). */
import { rowsOf, type TransitionRow } from "./TransitionRow.ts"
import type { TradingHaltEvent } from "../../../src/machines/market/TradingHalt.ts"
import { boundedHalt, openHalt } from "../../../src/machines/market/tradingHaltSamples.ts"

const openEnded = rowsOf<TradingHaltEvent>(openHalt)
const bounded = rowsOf<TradingHaltEvent>(boundedHalt)
const later: TradingHaltEvent = { type: "CHANGE", at: 4, message: "Later.", until: 9_000 }
const open: TradingHaltEvent = { type: "CHANGE", at: 4, message: "Open.", until: null }
const resume: TradingHaltEvent = { type: "RESUME", at: 5 }
const elapse: TradingHaltEvent = { type: "ELAPSE", at: 6 }
const halted = "audit market.halt"
const resumed = "audit market.resume"
const [set, clear] = ["timer.set halt.until:1", "timer.clear halt.until:1"]

export const tradingHaltRows: ReadonlyArray<TransitionRow> = [
  openEnded("A2-11: halted again with an end", "ACTIVE", [], later, "ACTIVE", [set, halted], {
    message: "Later.",
    until: 9_000,
    since: 0,
    endedAt: null
  }),
  openEnded("A2-11: open end, resume", "ACTIVE", [], resume, "ENDED", [resumed], { endedAt: 5 }),
  openEnded("A2-11: ENDED, halted again: that is another halt", "ENDED", [resume], later, "refused"),
  openEnded("A2-11: ENDED, resume again", "ENDED", [resume], resume, "refused"),
  bounded("A2-11: halted again without an end", "ACTIVE", [], open, "ACTIVE", [clear, halted], { until: null }),
  bounded("A2-11: resume before its end", "ACTIVE", [], resume, "ENDED", [clear, resumed], { endedAt: 5 }),
  bounded("A2-11: its end comes", "ACTIVE", [], elapse, "ENDED", ["audit market.elapse"], { endedAt: 6 }),
  bounded("A2-11: ENDED, its end comes late", "ENDED", [resume], elapse, "refused")
]
