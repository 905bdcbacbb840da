/**
 * POST /clients as one plain transaction: BEGIN, key lookup, uniqueness lookup, one insert per table, the stored
 * answer, COMMIT. It stores the same rows as the service: commit token, three claims, client, seven blocks with their
 * payloads, package, revision, identity session, screening run, reporting record, decision, timer, event, two audit
 * rows and the stored answer.
 *
 * The reference does less work than the service: clients are not screened, payloads are not encrypted, all rows of a
 * table are one statement, ids come from memory, event numbers may have gaps, and the audit chain is per client.
 */
import type { ClientBase } from "pg"
import type { ReferenceIds } from "./ReferenceIds.ts"
import {
  bytes,
  displayNameOf,
  inTransaction,
  type Keyed,
  noHead,
  type OnboardingBody,
  personKeyOf,
  query,
  refusal,
  reportingRecordOf,
  type StoredAnswer,
  storeAnswer,
  storedAnswer,
  writeAudit
} from "./rows.ts"

const mifid = ["ACCOUNT_PURPOSE", "EMPLOYMENT_FINANCIAL", "SOURCE_OF_WEALTH", "APPROPRIATENESS", "DECLARATIONS_MIFID"]

const requirements = {
  "TRADE:PERP": mifid,
  "TRADE:SPOT": [],
  "TRADE:BARRIER": mifid,
  "TRADE:STAKING": mifid,
  "DEPOSIT:CRYPTO": [],
  "WITHDRAW:CRYPTO": [],
  "DEPOSIT:FIAT": ["BANK_ACCOUNT"],
  "WITHDRAW:FIAT": ["BANK_ACCOUNT"]
}

/** Onboards the client (status 201), replays a stored answer, or refuses. Rolls back after any failure. */
export const writeOnboarding = (
  connection: ClientBase,
  ids: ReferenceIds,
  request: Keyed<OnboardingBody>
): Promise<StoredAnswer> =>
  inTransaction(connection, async () => (await storedAnswer(connection, request)) ?? onboard(connection, ids, request))

const onboard = async (
  connection: ClientBase,
  ids: ReferenceIds,
  request: Keyed<OnboardingBody>
): Promise<StoredAnswer> => {
  const { partnerId, body, now } = request
  const { personalInfo, identification } = body.kyc
  const personKey = personKeyOf(personalInfo, identification.number)
  const claims = [`ref:${partnerId}:${body.partnerClientRef}`, `email:${body.email}`, `person:${personKey}`]
  const taken = await query(connection, "SELECT name, owner FROM claims WHERE name = ANY($1::text[])", [claims])
  if (taken.length > 0) return refusal(409, 4092, "This partnerClientRef was used for another client.")
  const clientId = ids.next("client")
  const packageId = ids.next("package")
  const run = (text: string, values: ReadonlyArray<unknown>) => query(connection, text, values)
  const uid = `CL-${String(clientId).padStart(8, "0")}`
  await run("INSERT INTO claims (name, owner) SELECT name, $2 FROM unnest($1::text[]) AS name", [claims, clientId])
  await run(
    `INSERT INTO clients (id, partner_id, shard, state, version, context, uid, partner_client_ref, email, display_name,
                          level, categorization, residency_country, onboarding_source, person_key, created_at)
     VALUES ($1, $2, $3, 'ACTIVE', '1', $4, $5, $6, $7, $8, 'MICA', 'RETAIL', $9, 'PARTNER_RELIANCE', $10, $11)`,
    [
      clientId,
      partnerId,
      clientId % 1_024,
      JSON.stringify({ clientId, level: "MICA", restrictions: [], openCases: [] }),
      uid,
      body.partnerClientRef,
      body.email,
      displayNameOf(personalInfo),
      personalInfo.address.country,
      personKey,
      now
    ]
  )
  await writeBlocks(connection, request, clientId)
  await run(
    `INSERT INTO kyc_packages (id, partner_id, client_id, shard, state, version, context, received_at)
     VALUES ($1, $2, $3, $4, 'ACCEPTED', '1', $5, $6)`,
    [
      packageId,
      partnerId,
      clientId,
      clientId % 1_024,
      JSON.stringify({ kycPackageId: packageId, revision: 1, reviewedBy: null, reviewedAt: null, reviewNote: null }),
      now
    ]
  )
  await run(
    `INSERT INTO kyc_revisions (package_id, revision, partner_id, client_id, payload, attestation, received_at)
     VALUES ($1, 1, $2, $3, $4, $5, $6)`,
    [packageId, partnerId, clientId, bytes(body.kyc), bytes(body.attestation), now]
  )
  await run(
    `INSERT INTO identity_sessions (id, partner_id, client_id, provider, status, data, created_at)
     VALUES ($1, $2, $3, 'partner', 'VERIFIED', $4, $5)`,
    [ids.next("session"), partnerId, clientId, bytes(body.identityCheck), now]
  )
  await run(
    `INSERT INTO screening_runs (id, partner_id, client_id, trigger, outcome, list_version, candidates, ran_at)
     VALUES ($1, $2, $3, 'ONBOARDING', 'CLEAR', 0, '[]', $4)`,
    [ids.next("run"), partnerId, clientId, now]
  )
  await run(
    `INSERT INTO reporting_records (client_id, partner_id, from_revision, complete, record, built_at)
     VALUES ($1, $2, 1, true, $3, $4)`,
    [clientId, partnerId, bytes(reportingRecordOf(personalInfo, identification, now)), now]
  )
  await run(
    `INSERT INTO decisions (id, partner_id, client_id, decision, reason, decided_by, decided_at)
     VALUES ($1, $2, $3, 'GRANT_MICA', 'reliance onboarding', 'SYSTEM', $4)`,
    [ids.next("decision"), partnerId, clientId, now]
  )
  await run("INSERT INTO timers (subject, name, due_at) VALUES ($1, 'identification.expiry', $2)", [
    `client:${clientId}`,
    Date.parse(identification.expiration_date)
  ])
  await run("INSERT INTO events (partner_id, seq, name, client_id, data, ts) VALUES ($1, $2, $3, $4, $5, $6)", [
    partnerId,
    ids.next("event"),
    "client.onboarded",
    clientId,
    JSON.stringify({ verificationLevel: "MICA", lifecycleState: "ACTIVE", kycPackageId: packageId }),
    now
  ])
  const head = await writeAudit(connection, request, clientId, noHead, [
    {
      id: ids.next("audit"),
      object: `client:${clientId}`,
      action: "client.onboard",
      after: "ACTIVE",
      reason: "reliance onboarding"
    },
    {
      id: ids.next("audit"),
      object: `kycPackage:${packageId}`,
      action: "kyc.store",
      after: "ACCEPTED",
      reason: null
    }
  ])
  await run("INSERT INTO subjects (subject, token, audit_head) VALUES ($1, 1, $2)", [`client:${clientId}`, head])
  const data = {
    clientId,
    clientUid: uid,
    partnerClientRef: body.partnerClientRef,
    verificationLevel: "MICA",
    lifecycleState: "ACTIVE",
    status: "ACTIVE",
    kycPackageId: packageId,
    requirements,
    review: null
  }
  const answer = { status: 201, text: JSON.stringify({ code: 0, data }) }
  await storeAnswer(connection, request, answer)
  return answer
}

/** The six sections and the identity check, each as a block with its payload. */
const writeBlocks = async (
  connection: ClientBase,
  { partnerId, body, now }: Keyed<OnboardingBody>,
  clientId: number
): Promise<void> => {
  const { kyc } = body
  const payloads = {
    PERSONAL_INFO: kyc.personalInfo,
    IDENTIFICATION: kyc.identification,
    TAX_RESIDENCY: kyc.taxResidency,
    FATCA: kyc.fatca,
    PEP: kyc.pep,
    DECLARATIONS_MICA: kyc.declarationsMica,
    IDENTITY_CHECK: body.identityCheck
  }
  const codes = Object.keys(payloads)
  await query(
    connection,
    `INSERT INTO verification_blocks (client_id, code, partner_id, shard, state, version, context)
     SELECT $1, code, $2, $3, 'APPROVED', '1', context FROM unnest($4::text[], $5::json[]) AS b(code, context)`,
    [
      clientId,
      partnerId,
      clientId % 1_024,
      codes,
      codes.map((code) => JSON.stringify({ code, decidedBy: "PARTNER", decidedAt: now, reason: null, updatedAt: now }))
    ]
  )
  await query(
    connection,
    `INSERT INTO block_payloads (client_id, code, partner_id, data)
     SELECT $1, code, $2, data FROM unnest($3::text[], $4::bytea[]) AS b(code, data)`,
    [clientId, partnerId, codes, Object.values(payloads).map(bytes)]
  )
}
