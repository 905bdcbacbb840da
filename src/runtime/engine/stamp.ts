/**
 * The columns that only the writer of a batch can give: gap-free event numbers per partner and the audit hash
 * chain. Pure: the new counters are adopted after COMMIT, so a lost batch leaves no hole and no broken link.
 */
import { hash } from "node:crypto"
import type { AuditRow, EventRow } from "../store/Rows.ts"
import type { Commit } from "./Commit.ts"

export interface Counters {
  /** Last event number per partner; a partner not listed has none yet. */
  readonly seqs: ReadonlyMap<number, number>
  readonly auditHash: string
}

/** The chain starts from this value. */
export const auditGenesis = "0".repeat(64)

/** Hash of one audit row after `previous`: SHA-256 over a fixed-order JSON array, hex. */
export const auditHash = (previous: string, row: AuditRow): string =>
  hash(
    "sha256",
    JSON.stringify([
      previous,
      row.id,
      row.ts,
      row.role,
      row.keyLabel,
      row.requestId,
      row.partnerId,
      row.clientId,
      row.object,
      row.action,
      row.before,
      row.after,
      row.reason
    ])
  )

/** The batch's events and audit rows with their given columns, and the counters after it. */
export const stampBatch = (
  commits: ReadonlyArray<Commit>,
  counters: Counters
): {
  readonly events: ReadonlyArray<EventRow>
  readonly audit: ReadonlyArray<AuditRow>
  readonly counters: Counters
} => {
  const events: Array<EventRow> = []
  const audit: Array<AuditRow> = []
  const moved = new Map<number, number>()
  let last = counters.auditHash
  for (const commit of commits) {
    for (const event of commit.rows.events ?? []) {
      const seq = (moved.get(event.partnerId) ?? counters.seqs.get(event.partnerId) ?? 0) + 1
      moved.set(event.partnerId, seq)
      events.push({ ...event, seq })
    }
    for (const row of commit.rows.audit ?? []) {
      last = auditHash(last, row)
      audit.push({ ...row, hash: last })
    }
  }
  const seqs = moved.size === 0 ? counters.seqs : new Map([...counters.seqs, ...moved])
  return { events, audit, counters: { seqs, auditHash: last } }
}
