/** The parts that the two writes of the reference share: bodies, lookup and storage of the key, the audit chain. */
import { createHash } from "node:crypto"
import type { ClientBase } from "pg"
import type { SampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"

type SamplePersonalInfo = SampleOnboarding["kyc"]["personalInfo"]

export interface PersonalInfo extends SamplePersonalInfo {
  readonly middle_name?: string
}

export interface OnboardingBody extends Omit<SampleOnboarding, "kyc"> {
  readonly kyc: Omit<SampleOnboarding["kyc"], "personalInfo"> & { readonly personalInfo: PersonalInfo }
}

export interface RevisionBody {
  readonly kyc: { readonly personalInfo: PersonalInfo }
  readonly attestation: SampleOnboarding["attestation"]
}

export interface StoredAnswer {
  readonly status: number
  readonly text: string
}

/** A keyed request of one partner. */
export interface Keyed<Body> {
  readonly partnerId: number
  readonly idempotencyKey: string
  readonly requestId: string
  /** Method and path with the body as sent: its hash guards the key against another request. */
  readonly text: string
  readonly body: Body
  readonly now: number
}

export const query = async <Row>(
  connection: ClientBase,
  text: string,
  values: ReadonlyArray<unknown>
): Promise<ReadonlyArray<Row>> => (await connection.query(text, [...values])).rows as Array<Row>

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

export const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

export const refusal = (status: number, code: number, msg: string): StoredAnswer => ({
  status,
  text: JSON.stringify({ code, msg, error: msg })
})

/** The stored answer of this key; null when the key is new. */
export const storedAnswer = async (connection: ClientBase, request: Keyed<unknown>): Promise<StoredAnswer | null> => {
  const [stored] = await query<{ readonly fingerprint: string; readonly status: string; readonly body: Buffer }>(
    connection,
    "SELECT fingerprint, status, body FROM answers WHERE principal = 'partner:' || $1::text AND key = $2",
    [request.partnerId, request.idempotencyKey]
  )
  if (stored === undefined) return null
  return stored.fingerprint === sha256(request.text)
    ? { status: Number(stored.status), text: stored.body.toString("utf8") }
    : refusal(409, 4092, "This Idempotency-Key was used for another request.")
}

export const storeAnswer = async (
  connection: ClientBase,
  request: Keyed<unknown>,
  answer: StoredAnswer
): Promise<void> => {
  await query(
    connection,
    "INSERT INTO answers (principal, key, fingerprint, status, body, answered_at) VALUES ('partner:' || $1::text, $2, $3, $4, $5, $6)",
    [
      request.partnerId,
      request.idempotencyKey,
      sha256(request.text),
      answer.status,
      Buffer.from(answer.text),
      request.now
    ]
  )
}

/** One transaction; rolled back when `work` fails. */
export const inTransaction = async <A>(connection: ClientBase, work: () => Promise<A>): Promise<A> => {
  await connection.query("BEGIN")
  try {
    const value = await work()
    await connection.query("COMMIT")
    return value
  } catch (error) {
    await connection.query("ROLLBACK")
    throw error
  }
}

export interface AuditRow {
  readonly id: number
  readonly object: string
  readonly action: string
  readonly after: string
  readonly reason: string | null
}

/** Writes the audit rows in one statement, chained per client from `head`. Returns the new head. */
export const writeAudit = async (
  connection: ClientBase,
  { partnerId, requestId, now }: Keyed<unknown>,
  clientId: number,
  head: string,
  rows: ReadonlyArray<AuditRow>
): Promise<string> => {
  let last = head
  for (const row of rows) {
    last = sha256(JSON.stringify([last, now, "PARTNER", requestId, partnerId, clientId, row]))
  }
  await query(
    connection,
    `INSERT INTO audit (id, ts, role, key_label, request_id, partner_id, client_id, object, action, before, after, reason)
     SELECT id, $1, 'PARTNER', 'bench', $2, $3, $4, object, action, NULL, after, reason
       FROM unnest($5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[]) AS r(id, object, action, after, reason)`,
    [
      now,
      requestId,
      partnerId,
      clientId,
      rows.map((row) => row.id),
      rows.map((row) => row.object),
      rows.map((row) => row.action),
      rows.map((row) => row.after),
      rows.map((row) => row.reason)
    ]
  )
  return last
}

export const displayNameOf = ({ first_name, middle_name, last_name }: PersonalInfo): string =>
  [first_name, middle_name, last_name].filter((part) => part !== undefined).join(" ")

/** The key of a person: two clients with equal keys are the same person. */
export const personKeyOf = (info: PersonalInfo, documentNumber: string): string =>
  sha256([displayNameOf(info), info.date_of_birth, documentNumber].join("\u0000").toUpperCase())

/** The identifiers for transaction reporting, about as long as the service's record. */
export const reportingRecordOf = (info: PersonalInfo, document: { readonly number: string }, now: number) => ({
  nationality: info.citizenships[0],
  scheme: "CONCAT",
  identifier: `${info.citizenships[0]}${info.date_of_birth.replaceAll("-", "")}${info.first_name.slice(0, 5)}${info.last_name.slice(0, 5)}`,
  document: document.number,
  firstNames: info.first_name.toUpperCase(),
  surnames: info.last_name.toUpperCase(),
  dateOfBirth: info.date_of_birth,
  builtAt: now
})

export const noHead = "0".repeat(64)
