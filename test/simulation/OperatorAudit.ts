/**
 * Checks the operator's work: keys, grants of guarded commands, breaks that pause payments, payouts, and callers
 * without a valid key or reliance (operator surface, Four eyes; A3-11, A3-43; D15, D16, D17).
 */
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { ApprovalRow } from "../../src/runtime/tables/operator.ts"
import type { ReconBreakRow } from "../../src/runtime/tables/reconciliation.ts"
import type { Findings } from "./Findings.ts"

/** Facts from before a commit, recorded by the auditor of commits. */
export interface OperatorFacts {
  /** Commands that need the approval of a second operator key. */
  readonly guarded: ReadonlySet<string>
  readonly level: (clientId: number) => string | undefined
  readonly cash: (clientId: number) => bigint
}

/**
 * The time within which a process learns of a committed break, ms. While its commit is in doubt, the process may not
 * know of the break.
 */
const hearingMillis = 5_000

export class OperatorAudit {
  private readonly findings: Findings
  private readonly facts: OperatorFacts
  private readonly liveKeys = new Set<number>()
  private readonly approvals = new Map<number, ApprovalRow>()
  /** Approvals that an operator resumed after their grant. */
  private readonly resumed = new Set<number>()
  private readonly used = new Set<string>()
  private readonly breaks = new Map<number, { readonly row: ReconBreakRow; readonly since: number }>()
  private readonly paid = new Set<string>()
  /** Payments between the service and a partner's firm, by partner and reference. */
  private readonly between = new Set<string>()
  private readonly reliances = new Map<number, string>()
  private readonly revokedLabels = new Set<string>()
  private readonly clients = new Set<number>()

  constructor(findings: Findings, facts: OperatorFacts) {
    this.findings = findings
    this.facts = facts
  }

  /** Checks a commit before its levels and balances are recorded. */
  take(commit: Commit, now: number): void {
    const { rows } = commit
    this.checkGuarded(commit)
    this.checkPayouts(rows, now)
    this.checkCallers(rows)
    for (const { partnerId, txRef } of rows.interfirmRecords ?? []) {
      const name = `${partnerId} ${txRef}`
      this.findings.expect(!this.between.has(name), "claims", () => `payment ${name} is recorded a second time`)
      this.between.add(name)
    }
    for (const row of rows.withdrawalRequests ?? []) if (row.state === "APPROVED") this.checkPaused(row, now)
    this.note(rows, now)
  }

  private note({ operatorKeys, approvals, audit, reconBreaks, reliances, apiKeys }: Commit["rows"], now: number): void {
    for (const { id, state } of operatorKeys ?? []) {
      if (state === "ACTIVE") this.liveKeys.add(id)
      else this.liveKeys.delete(id)
    }
    for (const row of approvals ?? []) this.approvals.set(row.id, row)
    for (const { action, object } of audit ?? []) {
      if (action === "approval.resume") this.resumed.add(Number(object?.split(":")[1]))
    }
    for (const row of reconBreaks ?? []) {
      if (row.state === "OPEN") this.breaks.set(row.id, { row, since: now })
      else this.breaks.delete(row.id)
    }
    for (const { partnerId, state } of reliances ?? []) this.reliances.set(partnerId, state)
    for (const { partnerId, label, state } of apiKeys ?? []) {
      if (state === "REVOKED") this.revokedLabels.add(`${partnerId} ${label}`)
    }
  }

  /** Checks that a guarded command claims its approval, which a second live key granted. */
  private checkGuarded({ rows, claims }: Commit): void {
    const done = (rows.audit ?? []).filter(
      // Decisions of the sandbox itself need no approval.
      ({ action, role }) => this.facts.guarded.has(action.replace(".", " ")) && role !== "SYSTEM"
    )
    const uses = claims.filter(({ name, owner }) => name.startsWith("approval:") && owner !== 0)
    if (done.length === 0) return
    const say = () =>
      `${done.map(({ action }) => action).join()} with ${uses.map(({ name }) => name).join() || "no approval"}`
    const [use] = uses
    this.findings.expect(uses.length === done.length && use !== undefined, "four-eyes", say)
    if (use === undefined) return
    const approval = this.approvals.get(use.owner)
    const granter = approval?.context.decidedBy ?? 0
    const isLive = this.resumed.has(use.owner) || this.liveKeys.has(granter)
    this.findings.expect(
      approval?.state === "GRANTED" && granter !== approval.requestedBy && !this.used.has(use.name),
      "four-eyes",
      () => `${say()}: ${approval?.state} of key ${approval?.requestedBy} by key ${granter}`
    )
    this.findings.expect(
      isLive && this.liveKeys.has(approval?.requestedBy ?? 0),
      "four-eyes",
      () => `${say()} after one of its keys, ${approval?.requestedBy} and ${granter}, was revoked`
    )
    this.used.add(use.name)
  }

  private checkPaused(
    { id = 0, clientId, partnerId }: { readonly id?: number; readonly clientId: number; readonly partnerId: number },
    now: number
  ): void {
    for (const { row, since } of this.breaks.values()) {
      const covers =
        row.scope === "ALL" || (row.scope === "PARTNER" ? row.partnerId === partnerId : row.clientId === clientId)
      const isKnown = now - since > hearingMillis
      this.findings.expect(
        !covers || !row.context.pausesMoneyOut || !isKnown,
        "breaks",
        () => `money of client ${clientId} goes out (${id}) while break ${row.id} is open`
      )
    }
  }

  /**
   * Checks that a payout goes to a client that cannot request one, takes existing cash, leaves no reserve, and is
   * booked once for its reference.
   */
  private checkPayouts({ ledgerTransactions, postings }: Commit["rows"], now: number): void {
    const booked = (ledgerTransactions ?? []).filter(({ refs }) => "payoutId" in refs)
    if (booked.length === 0) return
    const own = new Set(booked.map(({ txId }) => txId))
    const legs = (postings ?? []).filter(({ txId, clientId }) => clientId !== null && own.has(txId))
    const [first] = legs
    const sumOf = (kind: string) => legs.reduce((sum, leg) => (leg.kind === kind ? sum + leg.amount : sum), 0n)
    const clientId = first?.clientId ?? 0
    const reference = booked.map(({ refs }) => (refs as { readonly reference?: string }).reference).find((each) => each)
    const name = `${clientId} ${reference ?? `transaction ${first?.txId}`}`
    const say = () =>
      `payout ${name}: cash ${sumOf("cash")}, reserved ${sumOf("reserved")} at level ${this.facts.level(clientId)}`
    this.findings.expect(!this.paid.has(name), "payouts", () => `${say()}, a second time`)
    this.findings.expect(sumOf("cash") < 0n && sumOf("reserved") === 0n, "payouts", say)
    this.findings.expect(this.facts.cash(clientId) + sumOf("cash") >= 0n, "payouts", say)
    this.findings.expect(this.facts.level(clientId) === "NONE", "payouts", say)
    this.checkPaused({ clientId, partnerId: first?.partnerId ?? 0 }, now)
    this.paid.add(name)
  }

  /** Checks that no client is onboarded without reliance, and that no revoked key acts. */
  private checkCallers({ audit, clients }: Commit["rows"]): void {
    for (const { role, partnerId, keyLabel, action } of audit ?? []) {
      const isRevoked = role === "PARTNER" && this.revokedLabels.has(`${partnerId} ${keyLabel}`)
      this.findings.expect(
        !isRevoked,
        "barred",
        () => `${action} for partner ${partnerId} by its revoked key ${keyLabel}`
      )
    }
    for (const { id, partnerId } of clients ?? []) {
      const reliance = this.reliances.get(partnerId)
      this.findings.expect(
        this.clients.has(id) || reliance === "APPROVED",
        "barred",
        () => `client ${id} comes in under reliance ${reliance}`
      )
      this.clients.add(id)
    }
  }
}
