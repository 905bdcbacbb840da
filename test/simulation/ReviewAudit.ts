/**
 * Checks clients under review: open cases, the blocks and questionnaires behind a level, documents with content, and
 * the objects that must have ended before a client does (D1, D2, D3, D19; A1-37).
 */
import { mifidBlockCodes } from "../../src/machines/verification/Blocks.ts"
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { ClientRow } from "../../src/runtime/tables/client.ts"
import type { Findings } from "./Findings.ts"

/** Facts that other auditors record. */
export interface ReviewFacts {
  /** The stored content of a document; undefined without content. */
  readonly content: (documentId: number) => string | undefined
  /** The balances of a client before a commit, by account. */
  readonly held: (clientId: number) => ReadonlyArray<string>
}

export class ReviewAudit {
  readonly levels = new Map<number, ClientRow["level"]>()
  private readonly findings: Findings
  private readonly facts: ReviewFacts
  private readonly states = new Map<number, ClientRow["state"]>()
  /** Open cases by client. */
  private readonly open = new Map<number, Set<number>>()
  /** The cases that compliance had read when it cleared a client. */
  private readonly seen = new Map<number, Set<number>>()
  private readonly blocks = new Map<string, string>()
  private readonly assessments = new Map<number, string>()
  /** Unsettled settlement items by client. */
  private readonly items = new Map<number, Set<number>>()

  constructor(findings: Findings, facts: ReviewFacts) {
    this.findings = findings
    this.facts = facts
  }

  /** Records that compliance has read these cases of a client and will clear them. */
  looked(clientId: number, cases: ReadonlyArray<number>): void {
    this.seen.set(clientId, new Set([...(this.seen.get(clientId) ?? []), ...cases]))
  }

  take({ rows }: Commit): void {
    this.checkCases(rows)
    for (const { clientId, code, state } of rows.verificationBlocks ?? []) this.blocks.set(`${clientId} ${code}`, state)
    for (const { clientId, state } of rows.assessments ?? []) this.assessments.set(clientId, state)
    for (const { id, clientId, state } of rows.settlementItems ?? []) {
      const open = this.items.get(clientId) ?? new Set()
      this.items.set(clientId, open)
      if (state === "SETTLED") open.delete(id)
      else open.add(id)
    }
    for (const row of rows.clients ?? []) this.checkClient(row)
    for (const { id, deletedAt } of rows.documents ?? []) {
      const content = this.facts.content(id)
      this.findings.expect(
        deletedAt === null ? content !== undefined && content !== "" : content === "",
        "documents",
        () =>
          `document ${id}, deleted at ${deletedAt}, has ${content === undefined ? "no content" : `the content "${content}"`}`
      )
    }
  }

  private checkCases(rows: Commit["rows"]): void {
    const bySystem = (rows.audit ?? []).some(({ role }) => role === "SYSTEM")
    for (const { id, clientId, state } of rows.cases ?? []) {
      const open = this.open.get(clientId) ?? new Set()
      this.open.set(clientId, open)
      if (state === "OPEN") open.add(id)
      else open.delete(id)
      this.findings.expect(
        // The sandbox clears cases by itself without reading them.
        state !== "CLEARED" || bySystem || this.seen.get(clientId)?.has(id) === true,
        "review",
        () => `case ${id} of client ${clientId} is cleared, and nobody had looked at it`
      )
    }
  }

  private checkClient({ id, state, level }: ClientRow): void {
    const before = this.states.get(id)
    const waits = [...(this.open.get(id) ?? [])]
    this.findings.expect(
      before !== "KYC_PENDING" || state === "KYC_PENDING" || level === "NONE" || waits.length === 0,
      "review",
      () => `client ${id} goes from KYC_PENDING to ${state} at level ${level}, and case ${waits.join(", ")} is open`
    )
    this.findings.expect(
      (state !== "KYC_PENDING" && state !== "KYC_REJECTED") || level === "NONE",
      "review",
      () => `client ${id} is ${state} at level ${level}`
    )
    if (state !== before && (state === "CLOSED" || state === "KYC_REJECTED")) this.checkEnd(id, state)
    this.findings.expect(
      before !== "CLOSED" || state === "CLOSED",
      "ends",
      () => `client ${id} is ${state} after CLOSED`
    )
    if (level === "MICA_MIFID" && this.levels.get(id) !== "MICA_MIFID") this.checkGrant(id)
    this.states.set(id, state)
    this.levels.set(id, level)
  }

  private checkEnd(id: number, state: string): void {
    const open = [
      ...this.facts.held(id),
      ...[...(this.items.get(id) ?? [])].map((item) => `item ${item} is not settled`),
      ...[...(this.open.get(id) ?? [])].map((each) => `case ${each} is open`)
    ]
    this.findings.expect(open.length === 0, "ends", () => `client ${id} is ${state}, and ${open.join(", ")}`)
  }

  private checkGrant(id: number): void {
    const missing = mifidBlockCodes.filter((code) => this.blocks.get(`${id} ${code}`) !== "APPROVED")
    const test = this.assessments.get(id) ?? "none"
    this.findings.expect(
      missing.length === 0 && ["PASSED", "ACKNOWLEDGED"].includes(test),
      "level",
      () =>
        `client ${id} gets MICA_MIFID with ${missing.join(", ") || "all blocks"} ${missing.length === 0 ? "" : "missing "}and the test ${test}`
    )
  }
}
