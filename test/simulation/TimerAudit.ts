/**
 * Checks durable timers: the timers that are set, and that each is removed together with its effect (architecture,
 * timers).
 */
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { Findings } from "./Findings.ts"

/**
 * The request id of a timer's turn, and the key label of its audit rows. The same turn ends with the policies of risk
 * and protection, which have labels of their own.
 */
const firing = "timer"
const timersLabel = "timer"

export class TimerAudit {
  /** The number of timers that fired. */
  fired = 0
  private readonly findings: Findings
  /** The due time of each timer, Unix ms, by subject and name. */
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
      // The timer was read before a commit cleared it. Its turn then has no effect, or repeats a query that was
      // answered meanwhile.
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

/** True if the turn of a timer changed its contract or swap, or wrote an audit row. */
const didSomething = (name: string, { audit = [], barrierContracts = [], swaps = [] }: Commit["rows"]): boolean => {
  const [handler = "", id] = name.split(":")
  const objects = handler.startsWith("contract.") ? barrierContracts : handler.startsWith("swap.") ? swaps : []
  return audit.some(({ keyLabel }) => keyLabel === timersLabel) || objects.some((row) => String(row.id) === id)
}
