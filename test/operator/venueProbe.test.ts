/**
 * `sim venue probe` through the command line, over a venue in memory that loses and refuses requests: output, audit
 * rows, roles and refusals (operator surface, sim venue).
 */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { VenueMemory, type VenueMemoryOptions } from "../../src/runtime/ports/VenueMemory.ts"
import { rowCounts } from "../support/Builders.ts"
import { type OperatorService, runRecorded, startOperatorService } from "./operatorHarness.ts"

type Fault = NonNullable<VenueMemoryOptions["fault"]>

const sound: Fault = () => ({})
let fault: Fault = sound
const venue = new VenueMemory({ now: () => Date.now(), fault: (...asked) => fault(...asked) })
let service: OperatorService
let clientId: number
let uid: string
beforeAll(async () => {
  service = await startOperatorService({ layerVenue: venue.layer() })
  const partner = await service.partner({ code: "PRB" })
  clientId = await service.client(partner.key)
  uid = (await service.done(["client", "show", String(clientId)])).clientUid
})
afterAll(() => service.stop())
beforeEach(() => (fault = sound))

const probe = (...words: ReadonlyArray<string>) => ["sim", "venue", "probe", ...words]
interface Probe {
  readonly probeId: number
  readonly state: string
  readonly venueOrderId: number | null
  readonly reason: string | null
}
const audited = async (): Promise<ReadonlyArray<{ readonly object: string; readonly action: string }>> =>
  (await service.done(["audit", "tail", "--limit", "500"])).entries

describe("operator surface, sim venue probe", () => {
  it("shows each order's end and the venue's id of it; by the client's id or uid", async () => {
    for (const name of [String(clientId), uid]) {
      const shown = await service.done(probe(name, "--calls", "3"))
      assert.deepInclude(shown, { clientId, symbol: "BTC-USDC-PERP" })
      const probes: ReadonlyArray<Probe> = shown.probes
      assert.deepStrictEqual(
        probes.map(({ state, reason }) => [state, reason]),
        [1, 2, 3].map(() => ["EXECUTED", null])
      )
      for (const { probeId, venueOrderId } of probes) {
        assert.isAbove(venueOrderId ?? 0, 0)
        assert.strictEqual(venue.executed.get(`P-${probeId}`), 1)
      }
    }
  })

  it("one without --calls, as a table for a person", async () => {
    const { stdout } = await runRecorded([...probe(uid), ...service.connection("ADMIN")])
    assert.match(stdout, /^1 order of BTC-USDC-PERP at [0-9.]+$/m)
    const rows = stdout.split("\n").map((row) => row.trim().split(/ {2,}/))
    assert.deepInclude(rows, ["PROBE", "STATE", "VENUE'S ORDER", "REASON"])
    assert.isTrue(rows.some((row) => row[1] === "EXECUTED" && Number(row[2]) > 0))
  })

  it("every change of a probe is in the audit", async () => {
    const [{ probeId }] = (await service.done(probe(uid))).probes
    const actions = (await audited()).filter(({ object }) => object === `venueProbe:${probeId}`)
    assert.isNotEmpty(actions)
  })

  it("a refusal of the venue is shown with its text", async () => {
    fault = (name) => (name === "placeOrder" ? { refused: "The market is closed." } : {})
    const [shown] = (await service.done(probe(uid))).probes
    assert.deepInclude(shown, { state: "REFUSED", venueOrderId: null, reason: "The market is closed." })
  })

  it("a lost answer is queried; an order that never arrived is void", async () => {
    for (const [lost, state] of [
      ["after", "EXECUTED"],
      ["before", "VOID"]
    ] as const) {
      fault = (name) => (name === "placeOrder" ? { lost } : {})
      const [shown] = (await service.done(probe(uid))).probes
      assert.strictEqual(shown.state, state)
      assert.isAtMost(venue.executed.get(`P-${shown.probeId}`) ?? 0, 1)
    }
  })

  it("a dry run shows its writes, sends nothing and writes nothing", async () => {
    const before = [await rowCounts(service), venue.came.size] as const
    const { answer, would } = await service.done([...probe(uid, "--calls", "2"), "--dry-run"])
    assert.deepStrictEqual(
      answer.probes.map(({ state }: Probe) => state),
      ["IN_FLIGHT", "IN_FLIGHT"]
    )
    assert.deepInclude(would.rows, { venue_probes: 2, venue_calls: 2 })
    assert.deepStrictEqual([await rowCounts(service), venue.came.size], before)
  })

  it("only the administrator may", async () => {
    const before = venue.came.size
    for (const role of ["FINANCE", "COMPLIANCE", "SUPPORT"] as const) {
      assert.strictEqual((await service.cli(probe(uid), role)).refusal.code, 4034)
    }
    assert.strictEqual(venue.came.size, before)
  })

  it("a client that is not there, numbers of calls that are none", async () => {
    for (const name of ["999999", "ACM-99999999"]) {
      const ran = await service.cli(probe(name))
      assert.deepStrictEqual([ran.status, ran.refusal.code, ran.refusal.msg], [1, 4004, "Client not found."])
    }
    for (const calls of ["0", "-1", "101", "1.5", "many"]) {
      assert.strictEqual((await service.cli(probe(uid, "--calls", calls))).status, 2, calls)
    }
    assert.strictEqual((await service.done(probe(uid, "--calls", "100"))).probes.length, 100)
  })
})

describe("operator surface, sim venue probe: where it can't be", () => {
  const outcomeOn = async (options: Parameters<typeof startOperatorService>[0]) => {
    const other = await startOperatorService(options)
    try {
      const sandbox = options?.settings?.sandbox ?? true
      const client = sandbox ? String(await other.client((await other.partner({ code: "OTH" })).key)) : "1"
      const { status, refusal } = await other.cli(probe(client))
      const dry = await other.cli([...probe(client), "--dry-run"])
      assert.strictEqual(dry.refusal.code, refusal.code)
      return [status, refusal.code, refusal.msg]
    } finally {
      await other.stop()
    }
  }

  it("no venue: 5030", async () => {
    assert.deepStrictEqual(await outcomeOn({}), [1, 5030, "No venue is attached to this service."])
  })

  it("a venue that is away: 5020, and nothing was done", async () => {
    const away = { url: "http://127.0.0.1:1", ca: null }
    const [status, code, sentence] = await outcomeOn({ venue: { venue: { ...away, key: Redacted.make("") } } })
    assert.deepStrictEqual([status, code], [1, 5020])
    assert.match(String(sentence), /^The venue does not answer \(.+\): nothing was done\.$/)
  })

  it("outside a sandbox it is refused", async () => {
    assert.deepStrictEqual(await outcomeOn({ settings: { sandbox: false } }), [
      1,
      4092,
      "Probes of the venue are for a sandbox service only."
    ])
  })
})
