/**
 * Checks changes that must be complete in one commit: revisions of KYC packages, and the change of a partner's custody
 * model (doc 1, KYC package; doc 3, Changing the custody model; D1, D15).
 */
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { PartnerRow } from "../../src/runtime/tables/partner.ts"
import type { Findings } from "./Findings.ts"

/** Facts from before a commit, recorded by the auditor of commits. */
export interface PartnerFacts {
  readonly partner: (partnerId: number) => PartnerRow | undefined
  /** The open objects between the partner, its clients and the service, as sentences. */
  readonly open: (partnerId: number) => ReadonlyArray<string>
}

export class PartnerAudit {
  /** The number of changes of custody model. */
  changes = 0
  /** The number of revisions beyond the first. */
  revisions = 0
  private readonly findings: Findings
  private readonly facts: PartnerFacts
  /** The latest revision of each package. */
  private readonly latest = new Map<number, number>()

  constructor(findings: Findings, facts: PartnerFacts) {
    this.findings = findings
    this.facts = facts
  }

  /** Checks a commit before its rows are recorded. */
  take(commit: Commit): void {
    for (const row of commit.rows.partners ?? []) this.checkCustody(row, commit)
    this.checkRevisions(commit)
  }

  /** Checks that the custody model changes only when nothing is open, together with its fact and its audit row. */
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
