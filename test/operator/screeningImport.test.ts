/**
 * Published lists through the command line, on a real service: versions of a source, resuming, dispositions, rows that
 * never change, errors of files, roles (F26; operator surface, screening).
 */
import { PgClient } from "@effect/sql-pg"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readListFile } from "../../cli/listFile.ts"
import { callService, type OperatorClient } from "../../cli/OperatorClient.ts"
import type { OperatorRole } from "../../src/http/api/operator/operatorTokens.ts"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import { runRecorded } from "./operatorHarness.ts"
import { openOperatorScenario } from "./operatorScenario.ts"

const { service, key, nextPerson } = await openOperatorScenario({ partner: { code: "LIST" } })
const folder = mkdtempSync(join(tmpdir(), "brokerage-lists-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
const file = (content: string, extension = "csv"): string => {
  const path = join(folder, `list${++files}.${extension}`)
  writeFileSync(path, content)
  return path
}
const csv = (...lines: ReadonlyArray<string>): string => file(["name,dob,country,list", ...lines].join("\n"))
const imported = (
  path: string,
  source: string,
  version: string,
  role: OperatorRole = "COMPLIANCE",
  further: ReadonlyArray<string> = []
) => service.cli(["screening", "import", path, "--source", source, "--version", version, ...further], role)
const facts = (ran: Awaited<ReturnType<typeof imported>>) => {
  if (ran.status !== 0) throw new Error(ran.stderr)
  const { status, added, kept, removed } = ran.json
  return [status, added, kept, removed]
}
const rows = (sql: string, ...values: ReadonlyArray<unknown>) =>
  service.run(
    Effect.flatMap(PgClient.PgClient, (client) => client.unsafe<Record<string, unknown>>(sql, values as Array<string>))
  )
const live = async (source: string) =>
  Object.fromEntries(
    (await rows("SELECT id, name FROM watch_entries WHERE source = $1 AND removed_at IS NULL", source)).map((row) => [
      row.name,
      Number(row.id)
    ])
  )
const audited = async () =>
  (await rows("SELECT action, reason FROM audit WHERE action LIKE 'screening.import%' ORDER BY id DESC")).map(
    (row) => `${row.action} ${row.reason}`
  )
/** Calls the operator's API directly, for requests that the command never sends. */
const call = <A>(use: (api: OperatorClient) => Promise<{ readonly data: A }>) =>
  callService(
    { url: service.url, operatorKey: service.keys.COMPLIANCE, ca: readFileSync(service.caFile, "utf8") } as Parameters<
      typeof callService
    >[0],
    use
  ).then(({ data }) => data)
const refused = (promise: Promise<unknown>) =>
  promise.then(
    () => assert.fail("it was done"),
    (failure: { readonly envelope: { readonly code: number; readonly data?: { readonly errors: object } } }) =>
      failure.envelope
  )
const sanction = (name: string) => ({ name, dob: null, country: null, list: "SANCTIONS" })

const person = () => sampleOnboarding(5_000 + nextPerson(), "listed", Date.now())
type Body = ReturnType<typeof person>
const nameOf = ({ kyc }: Body) => `${kyc.personalInfo.first_name} ${kyc.personalInfo.last_name}`
const lineOf = (body: Body) => `${nameOf(body)},${body.kyc.personalInfo.date_of_birth},,SANCTIONS`
const onboard = (body: Body) => service.call("POST", "/partner/v1/clients", { key, body })

describe("screening import", () => {
  it("F26: a later version keeps the entries that it still has, adds new ones and removes the rest", async () => {
    const first = await imported(
      csv("Quirin Zebrowski,1961-02-03,PL,SANCTIONS", "Xaver Ypsilanti,1950,,PEP", "Tilo Vogelsang,,,SANCTIONS"),
      "EU",
      "2026-11-19"
    )
    assert.deepStrictEqual(facts(first), ["DONE", 3, 0, 0])
    const before = await live("EU")
    const second = await imported(
      csv("Xaver Ypsilanti,1950,,PEP", "Ulf Wedekind,1970-05,DE,SANCTIONS", "Quirin Zebrowski,1961-02-03,PL,SANCTIONS"),
      "EU",
      "2026-11-20"
    )
    assert.deepStrictEqual(facts(second), ["DONE", 1, 2, 1])
    const after = await live("EU")
    assert.sameMembers(Object.keys(after), ["Xaver Ypsilanti", "Ulf Wedekind", "Quirin Zebrowski"])
    assert.strictEqual(after["Quirin Zebrowski"], before["Quirin Zebrowski"])
    assert.strictEqual(after["Xaver Ypsilanti"], before["Xaver Ypsilanti"])
    const { entries } = await service.done(["screening", "list"], "SUPPORT")
    const versions = entries
      .filter(({ source }: { readonly source: string }) => source === "EU")
      .map(({ version }: { readonly version: string }) => version)
    assert.deepStrictEqual(versions, ["2026-11-20", "2026-11-20", "2026-11-20"])
    assert.deepStrictEqual((await audited()).slice(0, 3), [
      "screening.import.replace EU 2026-11-19: EU 2026-11-20 instead",
      "screening.import.finish EU 2026-11-20: 1 added, 2 kept, 1 removed",
      "screening.import.begin EU 2026-11-20: 3 entries"
    ])
  })

  it("F26: the same file again changes nothing; other content or an older version is refused", async () => {
    const path = csv("Quentin Quast,1961,,PEP")
    assert.deepStrictEqual(facts(await imported(path, "UN", "10")), ["DONE", 1, 0, 0])
    const before = await rows("SELECT * FROM watch_entries WHERE source = 'UN'")
    const count = (await audited()).length
    assert.deepStrictEqual(facts(await imported(path, "UN", "10")), ["DONE", 1, 0, 0])
    assert.deepStrictEqual(await rows("SELECT * FROM watch_entries WHERE source = 'UN'"), before)
    assert.strictEqual((await imported(csv("Quentin Quast,1962,,PEP"), "UN", "10")).refusal.code, 4092)
    assert.strictEqual((await imported(csv("Quentin Quast,1962,,PEP"), "UN", "9")).refusal.code, 4092)
    assert.deepStrictEqual(Object.keys(await live("UN")), ["Quentin Quast"])
    assert.strictEqual((await audited()).length, count)
  })

  it("F26: an imported entry holds a client at once, and the run is stored with the list's version", async () => {
    const body = person()
    assert.deepStrictEqual(facts(await imported(csv(lineOf(body)), "UK", "2026-11-20")), ["DONE", 1, 0, 0])
    const { json } = await onboard(body)
    assert.strictEqual(json.data.status, "PENDING_REVIEW")
    const [run] = await rows(
      "SELECT outcome, list_versions, list_version FROM screening_runs WHERE client_id = $1",
      BigInt(json.data.clientId)
    )
    assert.deepInclude(run?.list_versions, { UK: "2026-11-20" })
    assert.strictEqual(run?.outcome, "HIT")
    assert.isAbove(Number(run?.list_version), 0)
  })

  it("F26: a disposition is remembered through a new version of the list", async () => {
    const body = person()
    const line = lineOf(body)
    await imported(csv(line), "OFAC", "1")
    const held = (await onboard(body)).json.data
    assert.strictEqual(held.status, "PENDING_REVIEW")
    assert.deepStrictEqual(facts(await imported(csv("Ida Immergrün,,,PEP", line), "OFAC", "2")), ["DONE", 1, 1, 0])
    const cleared = await service.done(
      ["kyc", "clear", String(held.clientId), "--note", "another person"],
      "COMPLIANCE"
    )
    assert.strictEqual(cleared.lifecycleState, "ACTIVE")
    await imported(csv(line, "Jan Janssen,,,PEP"), "OFAC", "3")
    const kept = await rows(
      "SELECT entry_id, disposition FROM dispositions WHERE client_id = $1",
      BigInt(held.clientId)
    )
    assert.deepStrictEqual(kept, [
      { entry_id: BigInt((await live("OFAC"))[nameOf(body)] as number), disposition: "FALSE_POSITIVE" }
    ])
  })

  it("F26: entries of operators and of other sources are never touched", async () => {
    await service.done(["screening", "add", "--name", "Olga Operata", "--list", "PEP"], "COMPLIANCE")
    await imported(csv("Sara Source,,,PEP"), "ONE", "1")
    await imported(csv("Sara Source,,,PEP", "Olga Operata,,,PEP"), "TWO", "1")
    assert.deepStrictEqual(facts(await imported(csv("Tom Two,,,PEP"), "TWO", "2")), ["DONE", 1, 0, 2])
    assert.deepStrictEqual(Object.keys(await live("ONE")), ["Sara Source"])
    assert.include(Object.keys(await live("OPERATOR")), "Olga Operata")
    for (const reserved of ["OPERATOR", "SANDBOX"]) {
      const own = await imported(csv("A B,,,PEP"), reserved, "1")
      assert.deepStrictEqual([own.status, Object.keys(own.refusal.data.errors)], [1, ["source"]])
    }
  })

  it("operator surface: JSON with aliases, --list for entries without a list", async () => {
    const entries = [
      { name: "Maxim Main", aliases: ["Max Main", "M. Main"], dob: "1960-01" },
      { name: "Paula PEP", list: "PEP", country: "FR" }
    ]
    const path = file(JSON.stringify({ source: "JSON", version: "v1", entries }), "json")
    const ran = await service.cli(["screening", "import", path, "--list", "SANCTIONS"], "COMPLIANCE")
    assert.deepStrictEqual(facts(ran), ["DONE", 4, 0, 0])
    const found = await rows("SELECT name, list, dob, country FROM watch_entries WHERE source = 'JSON' ORDER BY id")
    assert.deepStrictEqual(
      found.map((row) => [row.name, row.list, row.dob, row.country]),
      [
        ["Maxim Main", "SANCTIONS", "1960-01", null],
        ["Max Main", "SANCTIONS", "1960-01", null],
        ["M. Main", "SANCTIONS", "1960-01", null],
        ["Paula PEP", "PEP", null, "FR"]
      ]
    )
  })

  it("operator surface: a refused file names every line, changes nothing and leaves the list before", async () => {
    await imported(csv("Stands Still,1960,FR,PEP"), "BAD", "1")
    const path = csv("Good Name,1960,FR,PEP", ",1960-13,XX,OTHER", "Other List,,,OTHER", "Too,many,,PEP,fields")
    const ran = await imported(path, "BAD", "2")
    assert.strictEqual(ran.status, 2)
    assert.deepStrictEqual(Object.keys(ran.refusal.data.errors), ["line 3", "line 4", "line 5"])
    const many = await imported(csv(...Array.from({ length: 30 }, () => ",,,PEP")), "BAD", "2")
    assert.strictEqual(Object.keys(many.refusal.data.errors).length, 20)
    for (const content of ["dob,list\n1960,PEP\n", 'name,list\n"x,PEP\n', "", "name,list,passport\nA B,PEP,1\n"]) {
      assert.strictEqual((await imported(file(content), "BAD", "2")).status, 2, content)
    }
    assert.strictEqual((await imported(join(folder, "none.csv"), "BAD", "2")).status, 2)
    assert.strictEqual((await service.cli(["screening", "import", csv("A B,,,PEP")])).status, 2)
    assert.deepStrictEqual(Object.keys(await live("BAD")), ["Stands Still"])
    const { sources } = await service.done(["screening", "sources"], "SUPPORT")
    assert.deepInclude(
      sources.find((each: { readonly source: string }) => each.source === "BAD"),
      { version: "1", importing: null }
    )
  })

  it("F26: parts of a file that are not on the list are in the answer, in screening sources and in the audit, with their lines", async () => {
    const lines = [
      "name,aliases,dob,countries,schema",
      "Zora Zweig,Z. Zweig,soon,de,Person",
      ",,,,",
      "Zweig AG,,,de,Company"
    ]
    const path = file(lines.join("\n"))
    const refused = await imported(path, "REPORT", "1", "COMPLIANCE", ["--list", "PEP"])
    assert.deepStrictEqual(refused.refusal.data.errors, { "line 3": "The name is required." })
    const ran = await imported(path, "REPORT", "1", "COMPLIANCE", ["--list", "PEP", "--bad-lines", "1"])
    const report = { notPersons: 1, badLines: ["line 3"], unread: 1, unreadAt: ["line 2, dob"] }
    assert.deepStrictEqual([facts(ran), ran.json.report], [["DONE", 2, 0, 0], report])
    const { sources } = await service.done(["screening", "sources"], "SUPPORT")
    assert.deepStrictEqual(sources.find((each: { readonly source: string }) => each.source === "REPORT").report, report)
    const shown = await runRecorded(["screening", "sources", ...service.connection("SUPPORT")])
    assert.match(shown.stdout, /REPORT.*line 3.*1: line 2, dob/)
    assert.strictEqual(
      (await audited())[1],
      "screening.import.begin REPORT 1: 2 entries; no persons: 1; without a readable name: line 3; unreadable, so unknown: line 2, dob"
    )
    await imported(csv("Zora Zweig,,,PEP"), "REPORT", "2", "COMPLIANCE")
    const later = await service.done(["screening", "sources"], "SUPPORT")
    assert.deepInclude(later.sources.find((each: { readonly source: string }) => each.source === "REPORT").report, {
      notPersons: 0,
      badLines: []
    })
  })

  it("operator surface: the service accepts only places for parts that are not on the list, a hundred at most", async () => {
    const send = (report: object) =>
      refused(
        call((api) =>
          api.screening.import({
            payload: {
              source: "PLACES",
              version: "1",
              count: 1,
              hash: "0".repeat(64),
              report: { notPersons: 0, badLines: [], unread: 0, unreadAt: [], ...report }
            }
          })
        )
      )
    assert.strictEqual((await send({ badLines: ["Quirin Zebrowski"] })).code, 4000)
    assert.strictEqual((await send({ unreadAt: ["line 1, Quirin"] })).code, 4000)
    assert.strictEqual((await send({ badLines: Array.from({ length: 101 }, (_, n) => `line ${n}`) })).code, 4000)
    assert.strictEqual((await send({ unread: -1 })).code, 4000)
  })

  it("crash: an interrupted import loses nothing, continues where it stopped, and removes entries at its end only", async () => {
    const people = Array.from({ length: 2_500 }, (_, n) => `Person Number${n},1950-01-01,DE,SANCTIONS`)
    await imported(csv(...people.slice(0, 1_500)), "BIG", "1")
    const path = csv(...people.slice(1_200))
    const { source, version, count, hash, pieces } = await readListFile(path, { source: "BIG", version: "2" })
    const begun = await call((api) => api.screening.import({ payload: { source, version, count, hash } }))
    const params = { importId: String(begun.importId) }
    const { value: piece } = (await pieces(1_000).next()) as { readonly value: Array<ReturnType<typeof sanction>> }
    const half = await call((api) => api.screening.entries({ params, payload: { offset: 0, entries: piece } }))
    assert.deepStrictEqual([half.received, half.added, half.kept], [1_000, 700, 300])
    // The answer is lost: the repeated piece writes nothing.
    assert.deepStrictEqual(
      await call((api) => api.screening.entries({ params, payload: { offset: 0, entries: piece } })),
      half
    )
    assert.strictEqual(Object.keys(await live("BIG")).length, 2_200)
    assert.strictEqual((await refused(call((api) => api.screening.finish({ params, payload: {} })))).code, 4092)
    const told = await service.done(["screening", "sources"], "SUPPORT")
    const big = told.sources.find((each: { readonly source: string }) => each.source === "BIG")
    assert.deepStrictEqual([big.version, big.importing.version, big.importing.received], ["1", "2", 1_000])
    const { refusal } = await imported(path, "BIG", "2")
    assert.deepStrictEqual(
      [refusal.code, refusal.data],
      [4092, { reason: "IMPORT_SHRINKS", entries: 1_500, removed: 1_200 }]
    )
    assert.strictEqual(Object.keys(await live("BIG")).length, 2_500)
    assert.deepStrictEqual(facts(await imported(path, "BIG", "2", "COMPLIANCE", ["--allow-shrink"])), [
      "DONE",
      1_000,
      300,
      1_200
    ])
    const after = await service.done(["screening", "sources"], "SUPPORT")
    const now = after.sources.find((each: { readonly source: string }) => each.source === "BIG")
    assert.deepStrictEqual([now.version, now.entries, now.importing], ["2", 1_300, null])
    assert.isAbove(now.importedAt, 0)
    assert.strictEqual((await rows("SELECT count(*) AS n FROM watch_entries WHERE source = 'BIG'"))[0]?.n, 2_500n)
  })

  it.each([
    ["a hundred, though nearly all", 101, 1, 100, true],
    ["a fifth, though more than a hundred", 600, 480, 120, true],
    ["more than a hundred and a fifth", 600, 479, 121, false]
  ])("F26: an import removes %s without an additional option, or not", async (_, before, kept, gone, taken) => {
    const source = `SHRINK${before}-${kept}`
    const people = Array.from({ length: before }, (__, n) => `Shrinking Number${n},1950-01-01,DE,PEP`)
    await imported(csv(...people), source, "1")
    const second = await imported(csv(...people.slice(0, kept)), source, "2")
    assert.strictEqual(second.status, taken ? 0 : 1)
    if (!taken)
      assert.deepStrictEqual(second.refusal.data, { reason: "IMPORT_SHRINKS", entries: before, removed: gone })
    assert.strictEqual(Object.keys(await live(source)).length, taken ? kept : before)
  })

  it("operator surface: the confirmation on a terminal has the size of the source and the least number of removals", async () => {
    await imported(csv("Asked One,,,PEP", "Asked Two,,,PEP", "Asked Three,,,PEP"), "ASKED", "1")
    const asked: Array<string> = []
    const path = csv("Asked One,,,PEP")
    const line = ["screening", "import", path, "--source", "ASKED", "--version", "2", ...service.connection("ADMIN")]
    const confirm = (question: string) => {
      asked.push(question)
      return false
    }
    assert.strictEqual((await runRecorded(line, { confirm })).status, 1)
    assert.deepStrictEqual(asked, [
      "Import 1 entry as version 2 of ASKED, which has 3 now? Entries that it does not name are removed: 2 at least."
    ])
    assert.lengthOf(Object.keys(await live("ASKED")), 3)
  })

  it("F26: another version ends the import in progress; the lists of a run name both", async () => {
    await imported(csv("Anna Alt,,,PEP"), "GIVEUP", "1")
    const begun = await call((api) =>
      api.screening.import({ payload: { source: "GIVEUP", version: "2", count: 2, hash: "0".repeat(64) } })
    )
    const body = person()
    const { clientId } = (await onboard(body)).json.data
    const [run] = await rows("SELECT list_versions FROM screening_runs WHERE client_id = $1", BigInt(clientId))
    assert.deepInclude(run?.list_versions, { GIVEUP: "1, importing 2" })
    const params = { importId: String(begun.importId) }
    const payload = { offset: 0, entries: [sanction("Bert Bald"), sanction("Carl Kurz")] }
    await call((api) => api.screening.entries({ params, payload }))
    // The received number differs from the announced one, so no entry is removed.
    assert.strictEqual((await refused(call((api) => api.screening.finish({ params, payload: {} })))).code, 4092)
    assert.sameMembers(Object.keys(await live("GIVEUP")), ["Anna Alt", "Bert Bald", "Carl Kurz"])
    assert.deepStrictEqual(facts(await imported(csv("Anna Alt,,,PEP"), "GIVEUP", "1")), ["DONE", 0, 1, 2])
    assert.deepStrictEqual(Object.keys(await live("GIVEUP")), ["Anna Alt"])
    assert.strictEqual((await refused(call((api) => api.screening.entries({ params, payload })))).code, 4092)
    assert.include((await audited())[2], "screening.import.begin GIVEUP 1")
    assert.strictEqual(
      (await audited()).filter((line) => line.startsWith("screening.import.abandon GIVEUP 2")).length,
      1
    )
  })

  it("operator surface: an entry that was removed by hand returns with the next version, under a new id", async () => {
    const path = csv("Hand Removed,,,PEP")
    await imported(path, "HAND", "1")
    const id = (await live("HAND"))["Hand Removed"] as number
    await service.done(["screening", "remove", String(id)], "COMPLIANCE")
    assert.deepStrictEqual(await live("HAND"), {})
    assert.deepStrictEqual(facts(await imported(path, "HAND", "2")), ["DONE", 1, 0, 0])
    assert.notStrictEqual((await live("HAND"))["Hand Removed"], id)
  })

  it("operator surface: the service checks every entry again, and the pieces' size", async () => {
    const begun = await call((api) =>
      api.screening.import({ payload: { source: "CHECK", version: "1", count: 5_000, hash: "0".repeat(64) } })
    )
    const send = (entries: ReadonlyArray<ReturnType<typeof sanction>>) =>
      refused(
        call((api) =>
          api.screening.entries({ params: { importId: String(begun.importId) }, payload: { offset: 0, entries } })
        )
      )
    const wrong = await send([sanction("Good Name"), { ...sanction(""), list: "OTHER" }])
    assert.sameMembers(Object.keys(wrong.data?.errors ?? {}), ["entries.1.name", "entries.1.list"])
    assert.strictEqual((await send([])).code, 4000)
    assert.strictEqual((await send(Array.from({ length: 1_001 }, () => sanction("A B")))).code, 4000)
    assert.deepStrictEqual(await live("CHECK"), {})
  })

  it("operator surface: FINANCE and SUPPORT can't import", async () => {
    for (const role of ["FINANCE", "SUPPORT"] as const) {
      assert.strictEqual((await imported(csv("A B,,,PEP"), "ROLE", "1", role)).refusal.code, 4034)
    }
  })

  it("F26: no name of a list is in the audit", async () => {
    const found = await rows("SELECT count(*) AS n FROM audit a WHERE concat(before, after, reason) LIKE '%Zebrowski%'")
    assert.strictEqual(found[0]?.n, 0n)
  })
})
