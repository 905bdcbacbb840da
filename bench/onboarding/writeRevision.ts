/**
 * PUT .../kyc with personalInfo and attestation as one plain transaction: BEGIN, key lookup, SELECT ... FOR UPDATE,
 * block, payload, package, revision, for a changed identity also claim, screening run and reporting record, audit,
 * stored answer, COMMIT. It leaves out the same work as writeOnboarding.ts.
 */
import type { ClientBase } from "pg"
import type { ReferenceIds } from "./ReferenceIds.ts"
import {
  bytes,
  displayNameOf,
  inTransaction,
  type Keyed,
  type PersonalInfo,
  personKeyOf,
  query,
  refusal,
  reportingRecordOf,
  type RevisionBody,
  type StoredAnswer,
  storeAnswer,
  storedAnswer,
  writeAudit
} from "./rows.ts"

export interface RevisionRequest extends Keyed<RevisionBody> {
  readonly clientId: number
}

interface LockedClient {
  readonly uid: string
  readonly partner_client_ref: string
  readonly state: string
  readonly level: string
  readonly person_key: string
  readonly audit_head: string
  readonly package_id: string
  readonly revision: number
  readonly personal: Buffer
}

interface Change {
  readonly client: LockedClient
  readonly revision: number
  readonly identityChanged: boolean
}

/** Stores the revision (status 200), replays a stored answer, or refuses. Rolls back after any failure. */
export const writeRevision = (
  connection: ClientBase,
  ids: ReferenceIds,
  request: RevisionRequest
): Promise<StoredAnswer> =>
  inTransaction(connection, async () => (await storedAnswer(connection, request)) ?? revise(connection, ids, request))

const lockClient = (connection: ClientBase, { clientId, partnerId }: RevisionRequest) =>
  query<LockedClient>(
    connection,
    `SELECT c.uid, c.partner_client_ref, c.state, c.level, c.person_key, s.audit_head, p.id AS package_id,
            (p.context ->> 'revision')::int AS revision, b.data AS personal
       FROM clients c JOIN subjects s ON s.subject = 'client:' || c.id JOIN kyc_packages p ON p.client_id = c.id
       JOIN block_payloads b ON b.client_id = c.id AND b.code = 'PERSONAL_INFO'
      WHERE c.id = $1 AND c.partner_id = $2 FOR UPDATE`,
    [clientId, partnerId]
  )

const isSamePerson = (a: PersonalInfo, b: PersonalInfo): boolean =>
  displayNameOf(a) === displayNameOf(b) &&
  a.date_of_birth === b.date_of_birth &&
  a.citizenships.toSorted().join() === b.citizenships.toSorted().join()

const revise = async (connection: ClientBase, ids: ReferenceIds, request: RevisionRequest): Promise<StoredAnswer> => {
  const { clientId, body } = request
  const [client] = await lockClient(connection, request)
  if (client === undefined) return refusal(404, 4004, "Client not found.")
  if (client.state !== "ACTIVE") return refusal(409, 4092, "The account is closed.")
  const info = body.kyc.personalInfo
  const stored = JSON.parse(client.personal.toString("utf8")) as PersonalInfo
  const change: Change = { client, revision: client.revision + 1, identityChanged: !isSamePerson(stored, info) }
  await storeRevision(connection, request, change)
  if (change.identityChanged) await changeIdentity(connection, ids, request, change)
  const head = await writeAudit(connection, request, clientId, client.audit_head, [
    {
      id: ids.next("audit"),
      object: `kycPackage:${client.package_id}`,
      action: "kyc.revise",
      after: "ACCEPTED",
      reason: null
    },
    {
      id: ids.next("audit"),
      object: `client:${clientId}`,
      action: "client.kycRevision",
      after: client.state,
      reason: null
    }
  ])
  await query(connection, "UPDATE subjects SET token = token + 1, audit_head = $2 WHERE subject = $1", [
    `client:${clientId}`,
    head
  ])
  const data = {
    clientId,
    clientUid: client.uid,
    partnerClientRef: client.partner_client_ref,
    kycPackageId: Number(client.package_id),
    revision: change.revision,
    status: "ACCEPTED",
    verificationLevel: client.level,
    lifecycleState: client.state,
    identityChanged: change.identityChanged,
    screening: change.identityChanged ? "CLEAR" : "NOT_RUN"
  }
  const answer = { status: 200, text: JSON.stringify({ code: 0, data }) }
  await storeAnswer(connection, request, answer)
  return answer
}

const storeRevision = async (
  connection: ClientBase,
  { clientId, partnerId, body, now }: RevisionRequest,
  { client, revision }: Change
): Promise<void> => {
  const run = (text: string, values: ReadonlyArray<unknown>) => query(connection, text, values)
  const context = { code: "PERSONAL_INFO", decidedBy: "PARTNER", decidedAt: now, reason: null, updatedAt: now }
  await run("UPDATE verification_blocks SET state = 'APPROVED', context = $2 WHERE client_id = $1 AND code = $3", [
    clientId,
    JSON.stringify(context),
    "PERSONAL_INFO"
  ])
  await run("UPDATE block_payloads SET data = $2 WHERE client_id = $1 AND code = 'PERSONAL_INFO'", [
    clientId,
    bytes(body.kyc.personalInfo)
  ])
  const kyc = {
    kycPackageId: Number(client.package_id),
    revision,
    reviewedBy: null,
    reviewedAt: null,
    reviewNote: null
  }
  await run("UPDATE kyc_packages SET context = $2, received_at = $3 WHERE id = $1", [
    client.package_id,
    JSON.stringify(kyc),
    now
  ])
  await run(
    `INSERT INTO kyc_revisions (package_id, revision, partner_id, client_id, payload, attestation, received_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [client.package_id, revision, partnerId, clientId, bytes(body.kyc), bytes(body.attestation), now]
  )
}

/** Writes a changed identity: the name on the row, the claim of the person, screening run and reporting record. */
const changeIdentity = async (
  connection: ClientBase,
  ids: ReferenceIds,
  { clientId, partnerId, body, now }: RevisionRequest,
  { client, revision }: Change
): Promise<void> => {
  const run = (text: string, values: ReadonlyArray<unknown>) => query(connection, text, values)
  const info = body.kyc.personalInfo
  const [identification] = await query<{ readonly data: Buffer }>(
    connection,
    "SELECT data FROM block_payloads WHERE client_id = $1 AND code = 'IDENTIFICATION'",
    [clientId]
  )
  const document = JSON.parse(identification?.data.toString("utf8") ?? "{}") as { readonly number: string }
  const personKey = personKeyOf(info, document.number)
  await run("DELETE FROM claims WHERE name = $1", [`person:${client.person_key}`])
  await run("INSERT INTO claims (name, owner) VALUES ($1, $2)", [`person:${personKey}`, clientId])
  await run("UPDATE clients SET display_name = $2, person_key = $3 WHERE id = $1", [
    clientId,
    displayNameOf(info),
    personKey
  ])
  await run(
    `INSERT INTO screening_runs (id, partner_id, client_id, trigger, outcome, list_version, candidates, ran_at)
     VALUES ($1, $2, $3, 'KYC_REVISION', 'CLEAR', 0, '[]', $4)`,
    [ids.next("run"), partnerId, clientId, now]
  )
  await run("UPDATE reporting_records SET from_revision = $2, record = $3, built_at = $4 WHERE client_id = $1", [
    clientId,
    revision,
    bytes(reportingRecordOf(info, document, now)),
    now
  ])
}
