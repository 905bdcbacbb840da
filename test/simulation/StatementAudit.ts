/** What the auditor knows of statements: versions of a period follow one another, and one of them is live (D20; A2-66). */
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { StatementRow } from "../../src/runtime/store/tables/statement.ts"
import type { Findings } from "./Findings.ts"

export class StatementAudit {
  private readonly findings: Findings
  /** By client, kind and period. */
  private readonly live = new Map<string, StatementRow>()

  constructor(findings: Findings) {
    this.findings = findings
  }

  take({ rows }: Commit): void {
    const written = rows.statements ?? []
    const superseded = written.filter(({ state }) => state === "SUPERSEDED")
    for (const row of written) if (row.state === "GENERATED") this.made(row, superseded)
    for (const row of superseded) this.replaced(row, written)
  }

  private made(row: StatementRow, superseded: ReadonlyArray<StatementRow>): void {
    const key = keyOf(row)
    const before = this.live.get(key)
    this.findings.expect(
      row.number === (before?.number ?? 0) + 1 && row.context.supersedes?.statementId === before?.id,
      "statements",
      () => `statement ${row.id} is version ${row.number} of ${key}, whose last one is ${before?.number ?? "none"}`
    )
    this.findings.expect(
      before === undefined || superseded.some(({ id }) => id === before.id),
      "statements",
      () => `statement ${row.id} leaves ${before?.id} live`
    )
    this.findings.expect(
      before?.context.sha256 !== row.context.sha256,
      "statements",
      () => `statement ${row.id} says the same as ${before?.id}`
    )
    this.live.set(key, row)
  }

  private replaced(row: StatementRow, written: ReadonlyArray<StatementRow>): void {
    const by = written.find(({ id }) => id === row.context.supersededBy)
    this.findings.expect(
      by !== undefined && keyOf(by) === keyOf(row) && by.number === row.number + 1,
      "statements",
      () => `statement ${row.id} is superseded by none of its period`
    )
  }
}

const keyOf = ({ clientId, kind, periodFrom, periodTo }: StatementRow): string =>
  `${clientId} ${kind} ${periodFrom} ${periodTo}`
