/** What the auditor knows of durable timers: which are set, and that each goes with what it did (architecture, timers). */
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { Findings } from "./Findings.ts"

/** The request id of what a timer does. */
const firing = "timer"

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
      // It was looked up before a commit cleared it: nothing is done, or what was answered meanwhile is asked once more.
      if (known === undefined && Object.keys(rows).every((table) => table === "timers")) continue
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
