/** What the auditor knows of durable timers: which are set, and that each goes with what it did (architecture, timers). */
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { Findings } from "./Findings.ts"

/** The request id of what a timer does, and the label under which it does it: its turn ends with what risk and protection do. */
const firing = "timer"
const timersLabel = "timer"

export class TimerAudit {
  /** Timers fired so far. */
  fired = 0
  private readonly findings: Findings
  /** When each timer is due, Unix ms, by subject and name. */
  private readonly set = new Map<string, number>()

  private readonly onFired: (handler: string) => void

  constructor(findings: Findings, onFired: (handler: string) => void) {
    this.findings = findings
    this.onFired = onFired
  }

  take({ rows, clearedTimers }: Commit, now: number): void {
    const fired = clearedTimers.filter(({ dueAt }) => dueAt !== undefined)
    const acts = (rows.audit ?? []).some(({ requestId }) => requestId === firing)
    this.findings.expect(
      !acts || fired.length === 1,
      "timers",
      () => `a timer's commit clears ${fired.length} timers: ${(rows.audit ?? []).map(({ action }) => action).join()}`
    )
    for (const { subject, name, dueAt } of fired) {
      const known = this.set.get(`${subject} ${name}`)
      // It was looked up before a commit cleared it: it does nothing, or what was answered meanwhile is asked once more.
      if (known === undefined && !didSomething(name, rows)) continue
      this.fired++
      this.onFired(name.split(":", 1)[0] ?? name)
      this.findings.expect(
        known === dueAt && known !== undefined && known <= now,
        "timers",
        () => `${name} of ${subject} for ${dueAt} fires at ${now}; it is set for ${known ?? "nothing"}`
      )
    }
    for (const { subject, name } of clearedTimers) this.set.delete(`${subject} ${name}`)
    for (const { subject, name, dueAt } of rows.timers ?? []) this.set.set(`${subject} ${name}`, dueAt)
  }
}

/** Whether a timer has done something in its turn: to its contract or swap, or to anything that the audit tells of. */
const didSomething = (name: string, { audit = [], barrierContracts = [], swaps = [] }: Commit["rows"]): boolean => {
  const [handler = "", id] = name.split(":")
  const objects = handler.startsWith("contract.") ? barrierContracts : handler.startsWith("swap.") ? swaps : []
  return audit.some(({ keyLabel }) => keyLabel === timersLabel) || objects.some((row) => String(row.id) === id)
}
