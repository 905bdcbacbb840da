/**
 * Planted personal data: a real service with its embedded PostgreSQL; marks in every confidential text that a partner
 * can send; accepted and refused requests, reads and decisions of compliance, a failing webhook; a clean stop and a
 * kill. Then the test searches every file under the data directory (tables, write-ahead log, server log), the output of
 * the process, the rows and every answer for marks, and must find none (architecture, At rest). Texts by which lists
 * are searched stay readable (e-mail, display name, partnerClientRef), which also proves the search.
 */
import { PgClient } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { questionnaire1 } from "../../src/machines/appropriateness/questionnaire1.ts"
import { answersFor } from "../../src/machines/appropriateness/scoring.ts"
import { sampleMifid } from "../../src/machines/mifid/sampleMifid.ts"
import { logFileOf } from "../crash/ServiceProcess.ts"
import { person, withPaths } from "../support/Builders.ts"
import { dataOf, type RealService, startRealService } from "../support/RealService.ts"

/** The beginning of every mark except the telephone number, so that files without a mark are skipped quickly. */
const stem = "ZqPlanted"
/** The marks of one round: long, ASCII, and impossible by chance. */
const marksOf = (round: string) => {
  const mark = (name: string) => `${stem}${round}${name}Xv`
  return {
    kyc: {
      "kyc.personalInfo.phone_number": `77${round}0010077`,
      "kyc.personalInfo.address.street_name": mark("Street"),
      "kyc.personalInfo.address.number": mark("House"),
      "kyc.personalInfo.address.city": mark("City"),
      "kyc.personalInfo.address.postal_code": mark("Post"),
      "kyc.identification.number": mark("Doc"),
      "identityCheck.reference": mark("Session"),
      "attestation.attestedBy": mark("Officer"),
      "attestation.screening.provider": mark("Provider")
    },
    tin: mark("Tin"),
    relative: mark("Relative"),
    employer: mark("Employer"),
    position: mark("Position"),
    filename: mark("Filename"),
    content: mark("Content"),
    refused: mark("Refused")
  }
}
type Marks = ReturnType<typeof marksOf>
const textsOf = ({ kyc, ...others }: Marks): ReadonlyArray<string> => [...Object.values(kyc), ...Object.values(others)]

/** The forms that a text may have in a file: plain, in hexadecimal, inside base64 at each of the three offsets. */
const spellings = (text: string): ReadonlyArray<Buffer> => {
  const bytes = Buffer.from(text)
  // The first and the last digits of base64 also depend on the neighbouring bytes.
  const base64 = [0, 1, 2].map((offset) => {
    const digits = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString("base64")
      .replace(/=+$/, "")
    return Buffer.from(digits.slice(Math.ceil((offset * 4) / 3), -1))
  })
  return [bytes, Buffer.from(bytes.toString("hex")), ...base64]
}

const filesUnder = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** The texts found in each file, and the number of bytes that were read. */
const search = (files: ReadonlyArray<string>, texts: ReadonlyArray<string>) => {
  const found: Array<string> = []
  let bytes = 0
  const holds = (content: Buffer, text: string) => spellings(text).some((spelling) => content.includes(spelling))
  const marked = texts.filter((text) => text.startsWith(stem))
  const others = texts.filter((text) => !text.startsWith(stem))
  for (const file of files) {
    const content = readFileSync(file)
    bytes += content.length
    for (const text of [...(holds(content, stem) ? marked : []), ...others])
      if (holds(content, text)) found.push(`${text} in ${file}`)
  }
  return { found, bytes }
}

const folder = mkdtempSync(join(tmpdir(), "brokerage-personal-"))
const dataDir = join(folder, "data")
const everything = () => [...filesUnder(dataDir), logFileOf(dataDir)]
const answers: Array<string> = []
const asked: Array<string> = []
const keys: Array<string> = []
let rounds = 0

/** All actions of a partner and of compliance on one client's data, with the marks of the round. */
const play = async (service: RealService, marks: Marks): Promise<{ readonly clientId: number; key: string }> => {
  const n = ++rounds
  const partnerCode = `PD${n}`
  const key = await service.partner(partnerCode)
  keys.push(key)
  const call = async (method: string, path: string, body?: object) => {
    const answer = await service.call(key, method, path, body)
    asked.push(`${method} ${path} ${answer.status}`)
    // Data that the partner may read is no leak. Error bodies must not repeat it.
    if (answer.status >= 400) answers.push(answer.text)
    return answer
  }
  // No server listens at this address, so every delivery fails.
  keys.push(dataOf(await call("PUT", "/webhook", { url: "https://127.0.0.1:9/hook" })).secret)
  const full = (tag: number, more: Readonly<Record<string, unknown>> = {}) =>
    person(n * 100 + tag, "personal", {
      ...marks.kyc,
      email: `control.${n}.${tag}@mail.example`,
      "kyc.taxResidency": { tax_residencies: [{ country: "DE", has_tin: true, tin: marks.tin }] },
      "kyc.pep": {
        is_pep: true,
        details: { position: "mayor", country: "DE", institution: marks.position, start_date: "2020-01-01" },
        has_associations: true,
        associations: [
          {
            full_name: marks.relative,
            dob: "1961-07-19",
            nationality: "DE",
            address: marks.relative,
            position: "minister",
            country: "DE",
            institution: marks.position,
            start_date: "2019-01-01",
            relationship: "spouse"
          }
        ]
      },
      ...more
    })
  const { clientId } = dataOf(await call("POST", "/clients", full(1)))
  const path = `/clients/${clientId}`
  const mifid = withPaths(sampleMifid(), { "employmentFinancial.employer_name": marks.employer })
  assert.strictEqual((await call("PUT", `${path}/mifid`, mifid)).status, 200)
  const dataBase64 = Buffer.from(`%PDF-1.7\n${marks.content} and ${marks.content}`).toString("base64")
  const name = `${marks.filename}.pdf`
  const { documentId } = dataOf(await call("POST", `${path}/documents`, { name, purpose: "identity", dataBase64 }))
  await call("POST", `${path}/appropriateness`, { version: 1, answers: answersFor(questionnaire1, "PASS") })
  // Refused requests, each with marks in places that an unsafe service would repeat or log.
  const wrong = Object.fromEntries(
    Object.entries(marks.kyc).map(([at, text]) => [at, `${text}\u0007${"x".repeat(300)}`])
  )
  const refused: ReadonlyArray<readonly [string, string, object]> = [
    ["POST", "/clients", full(2, wrong)],
    ["POST", "/clients", full(3, { residencyCountry: marks.refused, "kyc.identification.type": marks.refused })],
    ["POST", "/clients", full(4, { "kyc.personalInfo": marks.refused, "kyc.fatca": [marks.refused] })],
    ["POST", "/clients", full(1)],
    ["POST", `/clients/${marks.refused}/documents`, { name }],
    ["PUT", `${path}/mifid`, withPaths(mifid, { "employmentFinancial.industry": marks.refused })],
    ["PUT", `${path}/mifid`, { [marks.refused]: marks.refused }],
    ["POST", `${path}/documents`, { name, purpose: marks.refused, dataBase64: marks.content }],
    ["POST", `${path}/documents`, { name, purpose: "w9", dataBase64: Buffer.from(marks.content).toString("base64") }],
    ["POST", `${path}/appropriateness`, { version: 1, answers: { [marks.refused]: marks.refused } }],
    ["PUT", "/webhook", { url: `http://${marks.refused.toLowerCase()}.example/` }]
  ]
  for (const [method, at, body] of refused)
    assert.isAtLeast((await call(method, at, body)).status, 400, `${method} ${at}`)
  // A revision of the package, accepted or not.
  await call("PUT", `${path}/kyc`, {
    kyc: { personalInfo: full(1).kyc.personalInfo },
    attestation: full(1).attestation
  })
  // Compliance reads and decides. Its reason stays readable, so it is a control of the search.
  const reason = ["--reason", `control reason ${n}`]
  const output = join(folder, `document-${n}.pdf`)
  await service.done("document", "show", String(documentId), ...reason, "--output", output)
  await service.cli("kyc", "show", String(clientId), ...reason)
  await service.done("client", "restrict", String(clientId), "NO_NEW_RISK", ...reason)
  await service.done("kyc", "clear", String(clientId), "--note", `control note ${n}`)
  // Both are in the database once the log shows a failed attempt.
  for (;;) {
    const { deliveries } = await service.done("webhook", "deliveries", partnerCode)
    if (deliveries.some(({ attempts }: { readonly attempts: number }) => attempts > 0)) return { clientId, key }
  }
}

/** Every row of every table as text, which also decompresses values that the server stores compressed. */
const rowsAsText = (): Promise<ReadonlyArray<string>> => {
  const read = (file: string) => readFileSync(join(dataDir, "postgres", file), "utf8").trim()
  const port = read("cluster/postmaster.pid").split("\n")[3]
  const url = `postgres://brokerage:${read("password")}@127.0.0.1:${port}/brokerage`
  return Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const tables = yield* sql.unsafe<{ readonly name: string }>(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
    )
    const rows: Array<string> = []
    for (const { name } of tables) {
      const lines = yield* sql.unsafe<{ readonly line: string }>(`SELECT t::text AS line FROM "${name}" t`)
      rows.push(...lines.map(({ line }) => `${name}: ${line}`))
    }
    return rows
  }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })), Effect.runPromise)
}

describe("planted personal data", { timeout: 180_000 }, () => {
  const first = marksOf("4711")
  const second = marksOf("4712")
  const all = [...textsOf(first), ...textsOf(second)]
  let service: RealService

  beforeAll(async () => {
    service = await startRealService({ dataDir, webhookHosts: ["127.0.0.1"] })
  }, 120_000)
  afterAll(async () => {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it("the search finds every spelling of a text, and no text that is absent", () => {
    const control = join(folder, "control")
    const text = `${stem}4711ControlXv`
    const base64 = ["", "a", "ab"].map((before) => Buffer.from(`${before}${text} tail`).toString("base64"))
    const hex = `\\x00${Buffer.from(text).toString("hex")}ff`
    for (const content of [`{"a":"${text}"}`, hex, ...base64]) {
      writeFileSync(control, content)
      assert.lengthOf(search([control], [text]).found, 1, content)
      assert.lengthOf(search([control], [`${stem}4712ControlXv`]).found, 0, content)
    }
  })

  it("At rest: after a clean stop no file, no row and no answer contains a mark or a key", async () => {
    await play(service, first)
    const rows = await rowsAsText()
    const leaks = rows.filter((row) => [...all, ...keys].some((text) => row.includes(text)))
    assert.deepStrictEqual(leaks, [])
    assert.isTrue(rows.some((row) => row.startsWith("audit: ") && row.includes("control reason 1")))
    await service.stop()
    const { found, bytes } = search(everything(), [...all, ...keys])
    assert.deepStrictEqual(found, [])
    assert.isAbove(bytes, 10_000_000)
    // The same search finds the texts that are readable on purpose, in tables and in the write-ahead log.
    const seen = search(everything(), ["control.1.1@mail.example", "control reason 1"]).found
    for (const text of ["control.1.1@mail.example", "control reason 1"]) {
      assert.isTrue(
        seen.some((each) => each.startsWith(text) && each.includes("/base/")),
        text
      )
      assert.isTrue(
        seen.some((each) => each.startsWith(text) && each.includes("/pg_wal/")),
        text
      )
    }
  })

  it("At rest: killed during uploads, with the database left running, no file contains a mark", async () => {
    service = await startRealService({ dataDir, webhookHosts: ["127.0.0.1"] })
    const { clientId, key } = await play(service, second)
    const content = Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.from(second.content.repeat(100_000))])
    const body = { name: `${second.filename}.pdf`, purpose: "w9", dataBase64: content.toString("base64") }
    const under = Array.from({ length: 6 }, () =>
      service.call(key, "POST", `/clients/${clientId}/documents`, body).then(
        ({ status }) => status,
        () => null
      )
    )
    // One request is committed, the others are in progress.
    await Promise.race(under)
    await service.kill("SIGKILL")
    const statuses = await Promise.all(under)
    assert.isTrue(statuses.every((status) => status === null || status === 201 || status === 503))
    assert.deepStrictEqual(search(everything(), [...all, ...keys]).found, [])
    // The next start reads everything again, and leaves no mark either.
    service = await startRealService({ dataDir })
    const { documents } = await service.done("document", "list", String(clientId), "--reason", "test")
    assert.strictEqual(documents.at(-1).filename, `${second.filename}.pdf`)
    const leaks = (await rowsAsText()).filter((row) => [...all, ...keys].some((text) => row.includes(text)))
    assert.deepStrictEqual(leaks, [])
    await service.stop()
    assert.deepStrictEqual(search(everything(), [...all, ...keys]).found, [])
  })

  it("Errors: no refusal repeats the refused value", () => {
    assert.isAtLeast(answers.length, 20)
    for (const text of answers) {
      for (const mark of all) assert.notInclude(text.toLowerCase(), mark.toLowerCase())
    }
    assert.includeMembers([...new Set(asked.map((line) => line.split(" ")[2]))], ["200", "201", "400", "404", "409"])
  })
})
