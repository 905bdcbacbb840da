/**
 * Checks the stored rows after a slice of onboardings or revisions: exactly the answered clients, each once, with one
 * row of each kind; and for every client as many revisions as answers, numbered without a gap.
 */
import type { Client } from "pg"
import { onDatabase } from "../reference/database.ts"
import { firstStoredId } from "../storedClients.ts"
import type { OnboardingResult, OnboardingSlice } from "./protocol.ts"

/** The requests that one side has acknowledged so far. */
export class Acknowledged {
  readonly clients = new Set<number>()
  /** The number of revisions by client; onboarding stores the first one. */
  readonly revisions = new Map<number, number>()
  /** Onboardings that ended in a review. */
  reviews = 0
  /** Revisions whose screening found a candidate. A candidate that compliance has seen opens no case. */
  revisionReviews = 0
  identityChanges = 0
  requests = 0

  add(kind: OnboardingSlice["kind"], result: OnboardingResult): void {
    for (const clientId of result.clientIds) {
      if (kind === "onboard" && this.clients.has(clientId)) throw new Error(`client ${clientId} was answered twice`)
      if (kind === "onboard") this.clients.add(clientId)
      this.revisions.set(clientId, (this.revisions.get(clientId) ?? 0) + 1)
    }
    this.requests += result.clientIds.length
    if (kind === "onboard") this.reviews += result.reviews
    else this.revisionReviews += result.reviews
    this.identityChanges += result.identityChanges
  }
}

const own = `<= ${firstStoredId}`

const expectedCounts = ({
  clients,
  reviews,
  requests,
  identityChanges
}: Acknowledged): ReadonlyArray<readonly [string, string, number]> => [
  ["packages", `kyc_packages WHERE client_id ${own}`, clients.size],
  ["blocks", `verification_blocks WHERE client_id ${own}`, 7 * clients.size],
  ["payloads of blocks", `block_payloads WHERE client_id ${own}`, 7 * clients.size],
  ["identity sessions", `identity_sessions WHERE client_id ${own}`, clients.size],
  ["reporting records", `reporting_records WHERE client_id ${own}`, clients.size],
  ["claims of references and e-mails", `claims WHERE owner ${own} AND name ~ '^(ref|email):'`, 2 * clients.size],
  // A person whose name can be split in several ways has several claims.
  [
    "clients with a claim of their person",
    `(SELECT DISTINCT owner FROM claims WHERE owner ${own} AND name ~ '^person:') AS owners`,
    clients.size
  ],
  ["screening runs", `screening_runs WHERE client_id ${own}`, clients.size + identityChanges],
  ["grants", `decisions WHERE client_id ${own} AND decision = 'GRANT_MICA'`, clients.size - reviews],
  ["events of onboarded clients", "events WHERE name = 'client.onboarded'", clients.size - reviews],
  ["revisions", `kyc_revisions WHERE client_id ${own}`, requests],
  ["stored answers", "answers", requests]
]

const countOf = async (client: Client, from: string): Promise<number> => {
  const { rows } = await client.query<{ readonly n: string }>(`SELECT count(*) AS n FROM ${from}`)
  return Number(rows[0]?.n)
}

interface RevisionRow {
  readonly client_id: string
  readonly n: string
  readonly last: string
}

/** Throws if an acknowledged row is missing, stored twice, or stored without an answer. */
export const checkOnboarded = (system: string, url: string, acknowledged: Acknowledged): Promise<void> =>
  onDatabase(url, async (client) => {
    const fail = (sentence: string): never => {
      throw new Error(`What ${system} stored is not what it answered: ${sentence}`)
    }
    const stored = await client.query<{ readonly id: string }>(`SELECT id FROM clients WHERE id ${own}`)
    const strange = stored.rows.find(({ id }) => !acknowledged.clients.has(Number(id)))
    if (strange !== undefined) fail(`client ${strange.id} was not answered.`)
    if (stored.rows.length !== acknowledged.clients.size) {
      fail(`${stored.rows.length} clients are stored, ${acknowledged.clients.size} were answered.`)
    }
    for (const [name, from, expected] of expectedCounts(acknowledged)) {
      const found = await countOf(client, from)
      if (found !== expected) fail(`${found} ${name}, expected were ${expected}.`)
    }
    const { reviews, revisionReviews } = acknowledged
    const cases = await countOf(client, "cases")
    if (cases < reviews || cases > reviews + revisionReviews) {
      fail(`${cases} cases, expected were ${reviews} to ${reviews + revisionReviews}.`)
    }
    const revisions = await client.query<RevisionRow>(
      `SELECT client_id, count(*) AS n, max(revision) AS last FROM kyc_revisions WHERE client_id ${own} GROUP BY client_id`
    )
    for (const { client_id: id, n, last } of revisions.rows) {
      const expected = acknowledged.revisions.get(Number(id)) ?? 0
      if (Number(n) !== expected || Number(last) !== expected) {
        fail(`client ${id} has ${n} revisions, the last one ${last}; ${expected} were answered.`)
      }
    }
  })
