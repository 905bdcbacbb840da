/**
 * What the auditor knows of changes that must come whole: revisions of KYC packages, and another custody model of a partner
 * (doc 1, KYC package; doc 3, Changing the custody model; D1, D15).
 */
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { PartnerRow } from "../../src/runtime/tables/partner.ts"
import type { Findings } from "./Findings.ts"

/** What stands before a commit, as the auditor of commits knows it. */
export interface PartnerFacts {
  readonly partner: (partnerId: number) => PartnerRow | undefined
  /** What is open between the partner, its clients and the service, as sentences. */
  readonly open: (partnerId: number) => ReadonlyArray<string>
}

export class PartnerAudit {
  /** Changes of custody model so far. */
  changes = 0
  /** Revisions beyond the first so far. */
  revisions = 0
  private readonly findings: Findings
  private readonly facts: PartnerFacts
  /** The latest revision of each package. */
  private readonly latest = new Map<number, number>()

  constructor(findings: Findings, facts: PartnerFacts) {
    this.findings = findings
    this.facts = facts
  }

  /** Takes a commit before its rows are known. */
  take(commit: Commit): void {
    for (const row of commit.rows.partners ?? []) this.checkCustody(row, commit)
    this.checkRevisions(commit)
  }

  /** Another model only when nothing is open under the old one, and with the fact and the audit row that say so. */
  private checkCustody(row: PartnerRow, { rows }: Commit): void {
    const before = this.facts.partner(row.id)?.custodyModel
    const facts = (rows.custodyChanges ?? []).filter(({ partnerId }) => partnerId === row.id)
    const notes = (rows.audit ?? []).filter(({ action }) => action === "partner.custody")
    const isChange = before !== undefined && before !== row.custodyModel
    const say = () => `partner ${row.id} from ${before} to ${row.custodyModel} with ${facts.length} facts`
    this.findings.expect(facts.length === (isChange ? 1 : 0) && notes.length === facts.length, "custody", say)
    if (!isChange) return
    this.changes++
    const [fact] = facts
    this.findings.expect(fact?.before === before && fact?.after === row.custodyModel, "custody", say)
    const open = this.facts.open(row.id)
    this.findings.expect(open.length === 0, "custody", () => `${say()}, although ${open.join("; ")}`)
  }

  private checkRevisions({ rows }: Commit): void {
    for (const { packageId, revision } of rows.kycRevisions ?? []) {
      const before = this.latest.get(packageId) ?? 0
      this.findings.expect(
        revision === before + 1,
        "revisions",
        () => `package ${packageId} gets revision ${revision} after ${before}`
      )
      if (before > 0) this.revisions++
      this.latest.set(packageId, revision)
    }
    for (const { id, context } of rows.kycPackages ?? []) {
      this.findings.expect(
        context.revision === this.latest.get(id),
        "revisions",
        () => `package ${id} is at revision ${context.revision}, the last one stored is ${this.latest.get(id)}`
      )
    }
  }
}
