/**
 * The check that a withdrawal request still has the destination with which it was filed (doc 3, Withdrawal request).
 * A sealed value is bound to its column, not to its row, so one request's destination could be copied into another's.
 * A keyed fingerprint over id and destination, kept in the request and in the audit row of its filing, reveals such a
 * copy (D10).
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { filedDestination } from "../../machines/withdrawal/WithdrawalRequest.ts"
import type { Sealing } from "../engine/sealing/Sealing.ts"
import { SealingService } from "../engine/sealing/SealingService.ts"
import { type FiledRequest, filedRequests } from "../store/reads/withdrawalReads.ts"
import type { WithdrawalRow } from "../tables/withdrawal.ts"

/** A keyed hash of the destination (an empty one included), which does not reveal it. Making it needs the service's key. */
export const destinationFingerprint = (
  { fingerprint }: Pick<Sealing, "fingerprint">,
  requestId: number,
  destination: string | null
): string => fingerprint(`withdrawal:${requestId}:${destination}`)

/**
 * True if the request still has the destination with which it was filed. False for a request without a fingerprint, whose
 * destination can't be verified.
 */
export const showsFiledDestination = (sealing: Pick<Sealing, "fingerprint">, row: WithdrawalRow): boolean =>
  row.context.destinationFingerprint === destinationFingerprint(sealing, row.id, row.destination)

/** The number of requests that are opened and compared at a time: a few milliseconds in which the service's thread is busy. */
const pageOfRequests = 200

const judge = (sealing: Sealing, { id, row, filed }: FiledRequest): string | null => {
  if (row === null) return `request ${id} can't be read`
  const { destinationFingerprint: kept } = row.context
  // Fingerprints are compared with the audit row of the filing, which the seals protect against changes.
  if (kept === null) return filed === null ? null : `request ${id} has lost the fingerprint it was filed with`
  if (filed !== filedDestination(kept)) return `request ${id} shows another fingerprint than its filing`
  return showsFiledDestination(sealing, row) ? null : `request ${id} shows another destination than it was filed with`
}

/**
 * Compares every request with its fingerprint and the audit. All three are immutable, so this needs no snapshot. Requests
 * from before fingerprints have none in either place, and are skipped.
 */
export const checkDestinations = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const sealing = yield* SealingService
  let after = 0
  let compared = 0
  while (true) {
    const page = yield* filedRequests(sql, sealing, after, pageOfRequests)
    for (const request of page) {
      const detail = judge(sealing, request)
      if (detail !== null) return { compared, detail }
      compared++
    }
    const last = page.at(-1)
    if (last === undefined || page.length < pageOfRequests) return { compared, detail: null }
    after = last.id
  }
})
