/**
 * Checks end-of-day runs in a simulation (STS-29). After the run of a day, each execution booked in that day is in
 * exactly one TRANSACTIONS statement, that of this run, and nothing is booked into a day whose statements are made. It
 * shares only the committed rows with the job.
 */
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { StatementRow } from "../../src/runtime/tables/statement.ts"
import type { Findings } from "./Findings.ts"

const dayMillis = 86_400_000
/** The time of the end-of-day run, ms after midnight. */
const dueMillis = 1_800_000

interface Booked {
  readonly clientId: number
  readonly at: number
  /** The statements that contain the execution. */
  readonly in: Array<number>
}

export class NightAudit {
  private readonly findings: Findings
  private readonly booked = new Map<string, Booked>()
  /** The end of the last day whose end-of-day run is done, Unix ms. */
  private statedTo = 0

  constructor(findings: Findings) {
    this.findings = findings
  }

  take({ rows }: Commit): void {
    for (const { id, clientId, bookedAt } of rows.fills ?? []) this.book(`fill ${id}`, clientId, bookedAt)
    for (const { txId, clientId, ts, type, key } of rows.ledgerTransactions ?? []) {
      const isExecution =
        key.startsWith("commission:contract:") || ["BARRIER_SETTLE", "SWAP_PRINCIPAL", "SWAP_SETTLE"].includes(type)
      if (clientId !== null && isExecution) this.book(`transaction ${txId}`, clientId, ts)
    }
    for (const row of rows.statements ?? [])
      if (row.kind === "TRANSACTIONS" && row.state === "GENERATED") this.stated(row)
    for (const { name, periodTo, endedAt } of rows.statementJobs ?? [])
      if (name === "TRANSACTIONS" && endedAt !== null) this.over(periodTo)
  }

  /** True if all end-of-day runs due at `now` are done. */
  isOver(now: number): boolean {
    const due = now - dueMillis
    return this.statedTo >= due - (due % dayMillis)
  }

  private book(name: string, clientId: number, at: number): void {
    this.findings.expect(at >= this.statedTo, "nights", () => `${name} is booked into a day that has been stated`)
    this.booked.set(name, { clientId, at, in: [] })
  }

  private stated({ id, clientId, periodFrom, periodTo, context }: StatementRow): void {
    for (const name of context.facts.split("\n").slice(1)) {
      const execution = this.booked.get(name)
      if (execution?.clientId !== clientId || execution.at < periodFrom || execution.at >= periodTo) {
        this.findings.add("nights", `statement ${id} has ${name}, which is none of its period`)
        continue
      }
      execution.in.push(id)
      this.findings.expect(execution.in.length === 1, "nights", () => `${name} stands in ${execution.in.join(" and ")}`)
    }
  }

  private over(periodTo: number): void {
    this.statedTo = Math.max(this.statedTo, periodTo)
    for (const [name, { at, in: statements }] of this.booked)
      if (at < periodTo)
        this.findings.expect(
          statements.length === 1,
          "nights",
          () => `${name} stands in ${statements.length} statements`
        )
  }
}
