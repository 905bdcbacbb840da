/** The turns of a screening pass in the system's mailbox: only one pass at a time, its cursor, and the nightly pass (F26). */
import type { ScreeningPassEvent, ScreeningPassInput } from "../../../machines/screening/ScreeningPass.ts"
import { screeningRulesVersion } from "../../../machines/screening/screen.ts"
import { applyEffects } from "../../effects/Interpreter.ts"
import type { Attribution, Turn } from "../../engine/mailbox/ActorHost.ts"
import type { ScreeningPassRow } from "../../tables/screening.ts"
import { systemInstance } from "../shared/OperatorCaller.ts"
import { advance, start } from "../../effects/advance.ts"

export const byScreening: Attribution = {
  role: "SYSTEM",
  keyLabel: "screening",
  requestId: "screening",
  actor: "system:screening"
}

export type PassPlan = Pick<ScreeningPassInput, "fromEntry" | "scope" | "toEntry" | "trigger">

/** Begins a pass, unless one is already running. */
export const beginPass = (turn: Turn, plan: PassPlan): void => {
  if (runningPass(turn) === undefined) writePass(turn, plan)
}

const writePass = (turn: Turn, plan: PassPlan): void => {
  const passId = turn.nextId("screeningPass")
  start(turn, "screeningPasses", {
    input: { passId, ...plan, rules: screeningRulesVersion, startedAt: turn.now },
    columns: { id: passId, startedAt: turn.now }
  })
}

/** The pass after an event; null when it is no longer running. */
export const movePass = (turn: Turn, passId: number, event: ScreeningPassEvent): ScreeningPassRow | null => {
  const row = turn.state.get("screeningPasses", String(passId))
  return row === undefined ? null : advance(turn, "screeningPasses", row, event)
}

/** The timer of the system's mailbox that begins the nightly pass. */
export const nightlyTimer = "screening.nightly"
/** 02:00 UTC, in ms of a day. */
const nightlyAt = 2 * 3_600_000
const dayMillis = 86_400_000

/** Sets the timer to the next night. After missed nights one pass catches up. */
export const setNightly = (turn: Turn): void => {
  const today = turn.now - (turn.now % dayMillis) + nightlyAt
  applyEffects(turn, systemInstance, [
    { type: "timer.set", name: nightlyTimer, at: today > turn.now ? today : today + dayMillis }
  ])
}

/**
 * Begins the nightly pass over all entries. It replaces a pass over new entries alone; a running pass over all entries
 * continues.
 */
export const beginNightly = (turn: Turn, lastEntry: number): void => {
  setNightly(turn)
  const running = runningPass(turn)
  if (running !== undefined && movePass(turn, running.id, { type: "SUPERSEDE", at: turn.now }) === null) return
  writePass(turn, { trigger: "NIGHTLY", scope: "ALL", fromEntry: 0, toEntry: lastEntry })
}

const runningPass = (turn: Turn): ScreeningPassRow | undefined => turn.state.all("screeningPasses")[0]
