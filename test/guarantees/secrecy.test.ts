/**
 * Personal data of onboarding and all secrets of the service stay sealed in the database. They never appear in the
 * audit, in events, in logs, in error bodies or readable in any column of any table (architecture, At rest; doc 1,
 * Authentication: only the SHA-256 of a key is stored).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { inspect } from "node:util"
import { comply, get, ofClient, onboard, person, query } from "../support/Builders.ts"
import { type Answer, operator, type Service, startService } from "../support/Service.ts"

/** A different mark in every confidential text, so that a leak shows its source. */
const marks = {
  "kyc.personalInfo.phone_number": "777100100",
  "kyc.personalInfo.address.street_name": "Markstreet Secretway",
  "kyc.personalInfo.address.number": "MRK-9041",
  "kyc.personalInfo.address.city": "Markville",
  "kyc.personalInfo.address.postal_code": "MRK771",
  "kyc.identification.number": "MRKDOC55127",
  "identityCheck.reference": "mrk-session-9931",
  "attestation.attestedBy": "Markofficer Personname",
  "attestation.screening.provider": "Markscreen Provider"
} as const
const tin = "MRKTIN840218"
const ssn = "123-45-6789"
const pep = {
  is_pep: true,
  details: { position: "mayor", country: "DE", institution: "Markinstitution Hall", start_date: "2020-01-01" },
  has_associations: true,
  associations: [
    {
      full_name: "Markrelative Fullname",
      dob: "1961-07-19",
      nationality: "DE",
      address: "Markrelative Home",
      position: "minister",
      country: "DE",
      institution: "Markministry",
      start_date: "2019-01-01",
      relationship: "spouse"
    }
  ]
}
const secrets: ReadonlyArray<string> = [
  ...Object.values(marks),
  tin,
  ssn,
  ssn.replaceAll("-", ""),
  "1987-06-05",
  pep.details.institution,
  "Markrelative",
  "Markministry"
]

describe("secrecy", () => {
  let service: Service
  let partner: Awaited<ReturnType<Service["partner"]>>
  let clientId: number
  const printed: Array<string> = []
  const answers: Array<Answer> = []
  const full = (n: number, more: Readonly<Record<string, unknown>> = {}) =>
    person(n, "secret", {
      ...marks,
      "kyc.personalInfo.date_of_birth": "1987-06-05",
      "kyc.taxResidency": { tax_residencies: [{ country: "DE", has_tin: true, tin }] },
      "kyc.fatca": { us_person_status: true, ssn_itin: ssn },
      "kyc.pep": pep,
      ...more
    })

  beforeAll(async () => {
    const keep = (...parts: ReadonlyArray<unknown>): void =>
      void printed.push(
        parts
          .map((part) => (typeof part === "string" ? part : inspect(part, { depth: 20, maxStringLength: null })))
          .join(" ")
      )
    for (const method of ["log", "info", "warn", "error", "debug"] as const)
      vi.spyOn(console, method).mockImplementation(keep)
    vi.spyOn(process.stderr, "write").mockImplementation((chunk) => {
      keep(chunk instanceof Uint8Array ? Buffer.from(chunk).toString() : chunk)
      return true
    })
    service = await startService()
    partner = await service.partner()
    const ask = async (body: object, headers: Readonly<Record<string, string>> = {}) => {
      const answer = await onboard(service, partner.key, body, headers)
      answers.push(answer)
      return answer
    }
    clientId = (await ask(full(1), { "idempotency-key": "secret-1" })).json.data.clientId
    await ask(full(1), { "idempotency-key": "secret-1" })
    // The same person again: a duplicate, and then every kind of refusal.
    await ask(full(1, { partnerClientRef: "again", email: "again@mail.example" }))
    await ask(full(1))
    await ask(full(2, { email: "Secret.Mail@mail.example" }))
    await ask(full(3, { email: "secret.mail@mail.example" }))
    const wrong = Object.fromEntries(
      Object.entries(marks).map(([path, mark]) => [path, `${mark}\u0007${"x".repeat(300)}`])
    )
    await ask(full(4, { ...wrong, "kyc.fatca": { us_person_status: true, ssn_itin: `${ssn}-${ssn}` } }), {
      "idempotency-key": "secret-2"
    })
    await ask(full(5, { "kyc.taxResidency": { tax_residencies: [{ country: "DE", has_tin: true, tin: `${tin}!!` }] } }))
    await ask(full(6, { "kyc.personalInfo.date_of_birth": "1987-06-05T00:00" }))
    // A commit that the database refuses, so that its error is logged.
    await query(service, "ALTER TABLE kyc_packages ADD CONSTRAINT poison CHECK (client_id < 0) NOT VALID")
    await ask(full(7), { "idempotency-key": "secret-3" })
    await query(service, "ALTER TABLE kyc_packages DROP CONSTRAINT poison")
    await comply(service, (compliance) => compliance.clear(operator, String(clientId), null))
    await comply(service, (compliance) => compliance.reject(operator, String(clientId), "test"))
    for (const path of ["", "/verification", "/balances"])
      answers.push(await get(service, partner.key, `/clients/${clientId}${path}`))
    answers.push(await get(service, `${partner.key}x`, "/me"), await get(service, partner.key, "/me"))
  })
  afterAll(async () => {
    vi.restoreAllMocks()
    await service.stop()
  })

  it("the scenario caused every kind of answer", () => {
    assert.sameMembers([...new Set(answers.map(({ status }) => status))], [200, 201, 400, 401, 409, 500])
    assert.isNotEmpty(printed)
  })

  it("sealed values open to the sent values", async () => {
    const [revision] = await ofClient(service, "kycRevisions", clientId)
    const text = JSON.stringify([revision?.payload, revision?.attestation])
    for (const mark of ["MRKDOC55127", tin, ssn, "Markrelative Fullname", "Markofficer Personname"])
      assert.include(text, mark)
  })

  it("no answer repeats a confidential value or a key", () => {
    for (const { text } of answers) for (const secret of [...secrets, partner.key]) assert.notInclude(text, secret)
  })

  it("Errors: no sentence repeats the refused value", () => {
    for (const { status, text } of answers) {
      if (status >= 400) assert.notMatch(text, /mail\.example|Mrk|MRK|xxxx/)
    }
  })

  it("no log line contains a confidential value, a key, a name or an e-mail", () => {
    const { first_name, last_name } = full(7).kyc.personalInfo
    const log = printed.join("\n")
    assert.include(log, "a commit was refused by the database")
    for (const secret of [...secrets, partner.key, `${first_name} ${last_name}`, "mail.example"])
      assert.notInclude(log, secret)
  })

  it("no column of any table contains a confidential value or a key in readable bytes", async () => {
    const tables = await query<{ readonly name: string }>(
      service,
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
    )
    assert.isAtLeast(tables.length, 25)
    let cells = 0
    const found = new Set<string>()
    for (const { name } of tables) {
      for (const row of await query(service, `SELECT * FROM "${name}"`)) {
        for (const [column, value] of Object.entries(row)) {
          const bytes = value instanceof Uint8Array ? Buffer.from(value) : Buffer.from(readable(value))
          for (const secret of [...secrets, partner.key]) {
            assert.isFalse(bytes.includes(secret), `${name}.${column} holds ${secret}`)
          }
          // Texts that are readable on purpose, because lists are searched by them, prove that the scan works.
          if (bytes.includes("secret.mail@mail.example")) found.add(`${name}.${column}`)
          cells++
        }
      }
    }
    assert.isAbove(cells, 500)
    assert.sameMembers([...found], ["clients.email", "claims.name"])
  })

  it("audit, events and deliveries name no person", async () => {
    for (const table of ["audit", "events", "webhook_deliveries", "notifications"]) {
      const rows = await query(service, `SELECT row_to_json(t)::text AS line FROM ${table} t`)
      for (const row of rows) assert.notMatch(String(row["line"]), /mail\.example|Mark|MRK|1987-/, table)
    }
  })

  it("equal values are sealed to different bytes", async () => {
    const rows = await query<{ readonly data: Uint8Array }>(
      service,
      "SELECT data FROM block_payloads WHERE code = 'FATCA'"
    )
    const sealed = rows.map(({ data }) => Buffer.from(data).toString("hex"))
    assert.isAtLeast(sealed.length, 2)
    assert.strictEqual(new Set(sealed).size, sealed.length)
  })
})

const readable = (value: unknown): string =>
  typeof value === "string"
    ? value
    : (JSON.stringify(value, (_, part) => (typeof part === "bigint" ? String(part) : part)) ?? "")
