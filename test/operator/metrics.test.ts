/**
 * `metrics`: the service's own figures, in a text that a strict reader of the Prometheus format accepts (operator
 * surface). The test follows the books from read to read.
 */
import { afterAll, assert, describe, it, vi } from "@effect/vitest"
import { PgConnection } from "@effect/sql-pg"
import { Effect, Exit, Scope } from "effect"
import { readFileSync } from "node:fs"
import { request } from "node:https"
import { prometheusText } from "../../src/runtime/services/operations/system/prometheus.ts"
import { LagWindows } from "../../src/runtime/services/operations/system/loopLag.ts"
import { samplePatience, metricsAge } from "../../src/runtime/services/operations/system/Metrics.ts"
import { collateral, query } from "../support/Builders.ts"
import { runRecorded } from "./operatorHarness.ts"
import { expectLog } from "../support/expectLog.ts"
import { openOperatorScenario } from "./operatorScenario.ts"

const { service, partner, key, fresh } = await openOperatorScenario({ partner: { code: "METER" }, damaged: true })
const { partnerId } = partner
const clientId = await service.client(key)
afterAll(() => vi.restoreAllMocks())

interface Family {
  readonly type: string
  readonly samples: ReadonlyMap<string, number>
}

const labelled = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)$/
const number = /^[+-]?(\d+(\.\d+)?([eE][+-]?\d+)?|Inf)$|^NaN$/

/** Reads the text format and throws at anything the format does not allow. */
const readMetrics = (text: string): ReadonlyMap<string, Family> => {
  assert.isTrue(text.endsWith("\n"), "the last line must end")
  const families = new Map<string, Family & { readonly samples: Map<string, number> }>()
  let help: string | null = null
  let current = ""
  for (const line of text.slice(0, -1).split("\n")) {
    const comment = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line)
    if (comment !== null) {
      const [, kind, name = "", rest = ""] = comment
      if (kind === "HELP") help = name
      else {
        assert.strictEqual(help, name, "TYPE follows the HELP of its family")
        assert.isFalse(families.has(name), `${name} twice`)
        assert.match(rest, /^(gauge|counter|histogram)$/)
        families.set((current = name), { type: rest, samples: new Map() })
      }
      continue
    }
    const sample = labelled.exec(line)
    assert.isNotNull(sample, `no sample: ${line}`)
    const [, name = "", labels = "", value = ""] = sample as RegExpExecArray
    const family = families.get(current)
    const allowed = family?.type === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => current + end) : [current]
    assert.include(allowed, name)
    assert.match(value, number)
    assert.isFalse(family?.samples.has(`${name}{${labels}}`), `${line} twice`)
    family?.samples.set(`${name}{${labels}}`, Number(value))
  }
  for (const [name, { type, samples }] of families) {
    if (type === "counter") assert.match(name, /_total$/)
    if (type !== "histogram") continue
    const buckets = [...samples].filter(([key]) => key.startsWith(`${name}_bucket`)).map(([, value]) => value)
    assert.deepStrictEqual(
      buckets,
      buckets.toSorted((a, b) => a - b),
      "buckets are cumulative"
    )
    assert.strictEqual(buckets.at(-1), samples.get(`${name}_count{}`))
    assert.isTrue(samples.has(`${name}_bucket{le="+Inf"}`))
  }
  return families
}

const raw = (bearer: string): Promise<{ status: number; type: string; text: string }> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${bearer}` }
    const options = { ca: readFileSync(service.caFile), agent: false, headers } as const
    request(`${service.url}/operator/v1/metrics`, options, (incoming) => {
      let text = ""
      incoming.on("data", (chunk) => void (text += String(chunk)))
      const type = String(incoming.headers["content-type"])
      incoming.on("end", () => resolve({ status: incoming.statusCode ?? 0, type, text }))
    })
      .on("error", reject)
      .end()
  })

let wall = 0
/** A read that is not served from the cache. */
const look = async () => {
  wall += metricsAge
  const real = performance.now.bind(performance)
  const ahead = wall
  const clock = vi.spyOn(performance, "now").mockImplementation(() => real() + ahead)
  try {
    return readMetrics((await raw(service.keys.SUPPORT)).text)
  } finally {
    clock.mockRestore()
  }
}
const valuesOf = (families: ReadonlyMap<string, Family>, name: string) =>
  Object.fromEntries(families.get(name)?.samples ?? [])

const report = (amount: string, direction = "DEPOSIT") =>
  collateral(service, key, clientId, { partnerRef: fresh(), direction, amount, currency: "USDC" })
const adjust = (client: number, amount: string) =>
  service.done(["ledger", "adjust", String(client), "--currency", "USDC", "--amount", amount, "--reason", "r"])
/** The differences of every partner under PARTNER custody, by its id. */
const differences = async () =>
  Object.fromEntries(
    Object.entries(valuesOf(await look(), "brokerage_custody_difference")).map(([name, value]) => [
      /"(\d+)"/.exec(name)?.[1],
      value
    ])
  )

describe("operator surface, metrics", () => {
  it("any role reads it as text; no caller without a key", async () => {
    for (const role of ["ADMIN", "FINANCE", "COMPLIANCE", "SUPPORT"] as const) {
      const { status, type, text } = await raw(service.keys[role])
      assert.deepStrictEqual([status, type], [200, "text/plain; version=0.0.4; charset=utf-8"])
      assert.isAbove(readMetrics(text).size, 9)
    }
    assert.strictEqual((await raw("bok_none")).status, 401)
  })

  it("the books, followed from read to read, sum to zero, and the batches are counted", async () => {
    const before = await look()
    for (let n = 0; n < 5; n++) assert.strictEqual((await report("10")).status, 201)
    assert.strictEqual((await report("3", "WITHDRAWAL")).status, 201)
    assert.strictEqual((await report("1000", "WITHDRAWAL")).status, 409)
    const after = await look()
    assert.deepStrictEqual(valuesOf(after, "brokerage_postings_sum"), { 'brokerage_postings_sum{currency="USDC"}': 0 })
    const name = `brokerage_custody_difference{partner="${partnerId}"}`
    assert.deepInclude(valuesOf(after, "brokerage_custody_difference"), { [name]: 0 })
    assert.deepStrictEqual(valuesOf(after, "brokerage_event_gaps"), { "brokerage_event_gaps{}": 0 })
    assert.deepStrictEqual(valuesOf(after, "brokerage_unsealed_rows"), { "brokerage_unsealed_rows{}": 0 })
    const commits = (families: ReadonlyMap<string, Family>) =>
      families.get("brokerage_commits_total")?.samples.get("brokerage_commits_total{}") ?? 0
    assert.isAtLeast(commits(after) - commits(before), 7)
    assert.isAtLeast(valuesOf(after, "brokerage_answers_total")['brokerage_answers_total{status="409"}'] ?? 0, 1)
  })

  it("a correction under PARTNER custody is settled by its item: still zero", async () => {
    await look()
    await service.done(["ledger", "adjust", String(clientId), "--currency", "USDC", "--amount", "-2", "--reason", "r"])
    const name = `brokerage_custody_difference{partner="${partnerId}"}`
    assert.strictEqual(valuesOf(await look(), "brokerage_custody_difference")[name], 0)
  })

  it("doc 3, Changing the custody model: bookings under the old model are checked by neither", async () => {
    const code = "MOVER"
    const mover = await service.partner({ code, custody: "BROKER", collateralAsset: "" })
    const client = await service.client(mover.key)
    const to = (model: "BROKER" | "PARTNER") => {
      const asset = model === "PARTNER" ? ["--collateral-asset", "EURX"] : []
      return service.done(["partner", "custody", code, model, ...asset, "--reason", "new agreement"])
    }
    await adjust(client, "100")
    assert.notProperty(await differences(), String(mover.partnerId))
    const body = { partnerRef: "out", currency: "USDC", amount: "100", destination: { iban: "DE1" } }
    const asked = await service.call("POST", `/partner/v1/clients/${client}/withdrawals`, { key: mover.key, body })
    assert.strictEqual(asked.json.data.status, "PAID")
    await to("PARTNER")
    assert.propertyVal(await differences(), String(mover.partnerId), 0)
    const move = (partnerRef: string, direction: string) =>
      collateral(service, mover.key, client, { partnerRef, direction, amount: "7" })
    await move("in", "DEPOSIT")
    await adjust(client, "2")
    assert.propertyVal(await differences(), String(mover.partnerId), 0)
    await adjust(client, "-2")
    await move("back", "WITHDRAWAL")
    const { items } = (await service.call("GET", "/partner/v1/settlement/items", { key: mover.key })).json.data
    for (const { itemId } of items) {
      const told = { status: "SETTLED", partnerTxRef: `t${itemId}` }
      await service.call("POST", `/partner/v1/settlement/items/${itemId}/report`, { key: mover.key, body: told })
    }
    await to("BROKER")
    await adjust(client, "5")
    assert.notProperty(await differences(), String(mover.partnerId))
    await adjust(client, "-5")
    await to("PARTNER")
    await move("again", "DEPOSIT")
    const now = await differences()
    assert.propertyVal(now, String(mover.partnerId), 0)
    assert.propertyVal(now, String(partnerId), 0)
  })

  it("a database that does not answer in time leaves out its own figures and no others, and is queried once", async () => {
    await look()
    const scope = await service.run(Scope.make())
    const holder = await service.run(PgConnection.make({ url: service.database.url }).pipe(Scope.provide(scope)))
    const ask = (text: string) => service.run(holder.query(text))
    const waiting = async () =>
      (await ask("SELECT 1 FROM pg_locks WHERE relation = 'seals'::regclass AND NOT granted")).rows
    await service.run(Effect.andThen(holder.query("BEGIN"), holder.query("LOCK TABLE seals IN ACCESS EXCLUSIVE MODE")))
    const started = performance.now()
    wall += metricsAge
    const real = performance.now.bind(performance)
    const clock = vi.spyOn(performance, "now").mockImplementation(() => real() + wall)
    const answers = Promise.all([raw(service.keys.ADMIN), raw(service.keys.SUPPORT), raw(service.keys.FINANCE)])
    await vi.waitFor(async () => assert.lengthOf(await waiting(), 1), { timeout: 10_000 })
    for (const { status, text } of await answers) {
      assert.strictEqual(status, 200)
      const families = readMetrics(text)
      assert.deepStrictEqual(valuesOf(families, "brokerage_database_up"), { "brokerage_database_up{}": 0 })
      for (const name of ["memory_bytes", "loop_lag_seconds", "mailboxes", "webhook_attempts", "answers_total"]) {
        assert.isTrue(families.has(`brokerage_${name}`), name)
      }
      assert.isFalse(families.has("brokerage_postings_sum"))
    }
    assert.isBelow(real() - started, 2 * samplePatience)
    // A later caller does not wait for a read that is already late.
    const asked = real()
    assert.include((await raw(service.keys.ADMIN)).text, "brokerage_database_up 0")
    assert.isBelow(real() - asked, samplePatience)
    assert.lengthOf(await waiting(), 1)
    await ask("COMMIT")
    clock.mockRestore()
    await service.run(Scope.close(scope, Exit.void))
    await vi.waitFor(
      async () =>
        assert.deepStrictEqual(valuesOf(await look(), "brokerage_database_up"), { "brokerage_database_up{}": 1 }),
      { timeout: 10_000 }
    )
  })

  it("a statement that the database refuses is logged, and the process answers for itself", async () => {
    expectLog(/the metrics of the database can't be read/)
    await query(service, "ALTER TABLE seals RENAME COLUMN custody_to TO custody_gone")
    const broken = await look()
    await query(service, "ALTER TABLE seals RENAME COLUMN custody_gone TO custody_to")
    assert.deepStrictEqual(valuesOf(broken, "brokerage_database_up"), { "brokerage_database_up{}": 0 })
    assert.isTrue(broken.has("brokerage_memory_bytes"))
    assert.deepStrictEqual(valuesOf(await look(), "brokerage_database_up"), { "brokerage_database_up{}": 1 })
  })

  it("events of several partners between two reads: no false gap is reported, a missing one is", async () => {
    const others = await Promise.all(["SEQA", "SEQB"].map((code) => service.partner({ code })))
    await look()
    await Promise.all(others.flatMap(({ key: own }) => [service.client(own), service.client(own)]))
    assert.deepStrictEqual(valuesOf(await look(), "brokerage_event_gaps"), { "brokerage_event_gaps{}": 0 })
    await query(service, "ALTER TABLE events DISABLE TRIGGER ALL")
    await query(
      service,
      "INSERT INTO events SELECT partner_id, seq + 3, name, client_id, data, ts FROM events WHERE partner_id = $1 ORDER BY seq DESC LIMIT 1",
      [BigInt(others[0]?.partnerId ?? 0)]
    )
    assert.deepStrictEqual(valuesOf(await look(), "brokerage_event_gaps"), { "brokerage_event_gaps{}": 2 })
  })

  it("a posting that breaks the books is found by the next read", async () => {
    await look()
    await query(service, "ALTER TABLE postings DISABLE TRIGGER ALL")
    await query(
      service,
      "INSERT INTO postings SELECT posting_id + 1000000, tx_id, account, client_id, partner_id, currency, kind, 7 FROM postings WHERE client_id IS NOT NULL ORDER BY posting_id DESC LIMIT 1"
    )
    const broken = await look()
    assert.deepStrictEqual(valuesOf(broken, "brokerage_postings_sum"), { 'brokerage_postings_sum{currency="USDC"}': 7 })
    assert.deepStrictEqual(valuesOf(broken, "brokerage_unsealed_rows"), { "brokerage_unsealed_rows{}": 1 })
  })

  it("figures of the database are cached for fifteen seconds", async () => {
    await look()
    const queue = async () => valuesOf(readMetrics((await raw(service.keys.ADMIN)).text), "brokerage_unsealed_rows")
    assert.deepStrictEqual(await queue(), await queue())
    assert.strictEqual(metricsAge, 15_000)
  })

  it("the command line prints the same text", async () => {
    const ran = await runRecorded(["metrics", ...service.connection("SUPPORT")])
    assert.strictEqual(ran.status, 0, ran.stderr)
    assert.isTrue(readMetrics(ran.stdout).has("brokerage_mailboxes"))
    assert.isTrue(readMetrics((await service.done(["metrics"])).metrics).has("brokerage_mailboxes"))
  })

  it("the delay of the event loop is of the last whole window, for every reader", () => {
    const histogram = {
      mean: Number.NaN,
      max: 0,
      percentile: () => histogram.max,
      reset: () => void (histogram.max = 0)
    }
    const windows = new LagWindows(histogram as never)
    assert.deepStrictEqual(windows.figures(), { mean: 0, p99: 0, max: 0 })
    Object.assign(histogram, { mean: 1e9, max: 3e9 })
    const first = windows.figures()
    assert.deepStrictEqual(first, { mean: 1, p99: 3, max: 3 })
    windows.roll()
    histogram.max = 1e9
    assert.deepStrictEqual([windows.figures(), windows.figures()], [first, first])
    windows.roll()
    assert.strictEqual(windows.figures().max, 1)
  })

  it("label values are escaped as the format wants it", () => {
    const text = prometheusText([
      { name: "m", help: "a\nb", type: "gauge", samples: [{ labels: { l: 'q"\\\n' }, value: 1n }] }
    ])
    assert.strictEqual(text, '# HELP m a\\nb\n# TYPE m gauge\nm{l="q\\"\\\\\\n"} 1\n')
    assert.strictEqual(readMetrics(text).size, 1)
  })
})
