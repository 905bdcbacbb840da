/**
 * Checks statements: the versions of a period follow one another and one of them is live, each contains everything
 * booked before its request, and equal facts make equal models (D20; A2-66, STS-17, STS-19).
 */
import { createHash } from "node:crypto"
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { StatementRow } from "../../src/runtime/tables/statement.ts"
import type { Findings } from "./Findings.ts"

export class StatementAudit {
  private readonly findings: Findings
  /** By client, kind and period. */
  private readonly live = new Map<string, StatementRow>()
  /** Ids of each client's committed postings. */
  private readonly booked = new Map<number, Array<number>>()

  constructor(findings: Findings) {
    this.findings = findings
  }

  /** The last committed posting of a client. */
  lastPosting(clientId: number): number {
    return this.booked.get(clientId)?.at(-1) ?? 0
  }

  take({ rows }: Commit): void {
    for (const { clientId, postingId } of rows.postings ?? []) {
      if (clientId === null) continue
      const known = this.booked.get(clientId)
      if (known === undefined) this.booked.set(clientId, [postingId])
      else known.push(postingId)
    }
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
    this.says(row)
  }

  /**
   * Checks the facts of a statement: the last posting at its request, then one line for each posting that it contains.
   */
  private says(row: StatementRow): void {
    const [asked = "", ...lines] = row.context.facts.split("\n")
    const said = new Set(lines.map((line) => Number(line.split(" ")[0])))
    const missing = (this.booked.get(row.clientId) ?? []).find((id) => id <= Number(asked) && !said.has(id))
    this.findings.expect(
      missing === undefined,
      "statements",
      () => `statement ${row.id} lacks posting ${missing}, which was booked before it was asked for`
    )
    this.findings.expect(
      row.context.sha256 === createHash("sha256").update(lines.join("\n")).digest("hex"),
      "statements",
      () => `statement ${row.id} has another hash than its facts`
    )
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
