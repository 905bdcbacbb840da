// `metrics`: what the service measures of itself, in a text that a strict reader of the Prometheus format takes (operator
// surface). The books are followed from look to look.
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { request } from "node:https"
import { prometheusText } from "../../src/runtime/services/prometheus.ts"
import { metricsAge } from "../../src/runtime/services/Metrics.ts"
import { collateral, query } from "../support/Builders.ts"
import { type OperatorService, runRecorded, startOperatorService } from "./operatorHarness.ts"

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

let service: OperatorService
let key: string
let partnerId: number
let clientId: number
beforeAll(async () => {
  service = await startOperatorService()
  const partner = await service.partner({ code: "METER" })
  ;({ key, partnerId } = partner)
  clientId = await service.client(key)
})
afterAll(async () => {
  vi.restoreAllMocks()
  await service.stop()
})

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
/** A look that is not served from the last one. */
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

let references = 0
const report = (amount: string, direction = "DEPOSIT") =>
  collateral(service, key, clientId, { partnerRef: `m${++references}`, direction, amount, currency: "USDC" })

describe("operator surface, metrics", () => {
  it("any role reads it as text; nobody without a key", async () => {
    for (const role of ["ADMIN", "FINANCE", "COMPLIANCE", "SUPPORT"] as const) {
      const { status, type, text } = await raw(service.keys[role])
      assert.deepStrictEqual([status, type], [200, "text/plain; version=0.0.4; charset=utf-8"])
      assert.isAbove(readMetrics(text).size, 9)
    }
    assert.strictEqual((await raw("bok_none")).status, 401)
  })

  it("the books, followed from look to look, sum to zero, and the batches are counted", async () => {
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

  it("a posting that breaks the books is seen at the next look", async () => {
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

  it("what was read from the database is kept for fifteen seconds", async () => {
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

  it("label values are escaped as the format wants it", () => {
    const text = prometheusText([
      { name: "m", help: "a\nb", type: "gauge", samples: [{ labels: { l: 'q"\\\n' }, value: 1n }] }
    ])
    assert.strictEqual(text, '# HELP m a\\nb\n# TYPE m gauge\nm{l="q\\"\\\\\\n"} 1\n')
    assert.strictEqual(readMetrics(text).size, 1)
  })
})
