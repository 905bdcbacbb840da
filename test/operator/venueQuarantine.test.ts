/**
 * `venue quarantine list|drop` through the command line: messages of the venue that could not be applied, as staff see
 * them and drop them (operator surface, venue quarantine; A2-115).
 */
import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import { VenueMemory } from "../../src/runtime/ports/VenueMemory.ts"
import { rowCounts } from "../support/Builders.ts"
import { expectLog } from "../support/expectLog.ts"
import { venueOrder } from "../support/venueOrders.ts"
import { type OperatorService, runRecorded, startOperatorService } from "./operatorHarness.ts"

const venue = new VenueMemory({ now: () => Date.now() })
let service: OperatorService
let uid: string
beforeAll(async () => {
  service = await startOperatorService({ layerVenue: venue.layer() })
  const partner = await service.partner({ code: "QUA" })
  uid = (await service.done(["client", "show", String(await service.client(partner.key))])).clientUid
})
afterAll(() => service.stop())

interface Aside {
  readonly quarantineId: number
  readonly number: number | null
  readonly account: string | null
  readonly reason: string
  readonly bytes: string
  readonly droppedAt: number | null
}
const quarantine = (...words: ReadonlyArray<string>) => ["venue", "quarantine", ...words]
const list = async (...words: ReadonlyArray<string>): Promise<ReadonlyArray<Aside>> =>
  (await service.done(quarantine("list", ...words))).events
const lastAudit = async () => {
  const { entries } = await service.done(["audit", "tail", "--limit", "500"])
  const { action, object, role, before, after, reason } = entries.at(-1)
  return { action, object, role, before, after, reason }
}

const expectAlarm = () => expectLog(/a message of the venue is quarantined/)

/** Publishes an event of an order that is not ours. Returns its quarantine entry. */
const setAside = async (account = uid): Promise<Aside> => {
  const { number } = venue.publish(account, (stamp) => ({ type: "order", ...stamp, order: venueOrder(account, null) }))
  return vi.waitFor(
    async () => {
      const found = (await list()).find((row) => row.number === number)
      assert.isDefined(found)
      return found as Aside
    },
    { timeout: 10_000, interval: 20 }
  )
}

describe("operator surface, venue quarantine list", () => {
  it("nothing is set aside yet", async () => {
    assert.deepStrictEqual(await list(), [])
    const { stdout } = await runRecorded([...quarantine("list"), ...service.connection("SUPPORT")])
    assert.strictEqual(stdout, "no quarantined messages\n")
  })

  it("A2-115: shows reason, number, account and bytes; any role may read", async () => {
    expectAlarm()
    const aside = await setAside()
    assert.deepInclude(aside, { account: uid, reason: "it names no object of ours", droppedAt: null })
    assert.deepInclude(JSON.parse(aside.bytes).fact, { type: "order", account: uid })
    for (const role of ["ADMIN", "FINANCE", "COMPLIANCE", "SUPPORT"] as const) {
      assert.deepStrictEqual((await service.done(quarantine("list"), role)).events, [aside])
    }
    const { stdout } = await runRecorded([...quarantine("list"), ...service.connection("SUPPORT")])
    const [head, row] = stdout.split("\n").map((line) => line.trim().split(/ {2,}/))
    assert.deepStrictEqual(head, ["ID", "AT", "EVENT", "ACCOUNT", "REASON", "DROPPED", "BYTES"])
    assert.deepStrictEqual(
      [row?.[0], row?.[2], row?.[3], row?.[4], row?.[5]],
      [String(aside.quarantineId), String(aside.number), uid, "it names no object of ours", "no"]
    )
  })

  it("newest first, in pages", async () => {
    expectAlarm()
    const older = await setAside("XYZ-00000009")
    const newer = await setAside()
    assert.strictEqual(older.reason, "its account is not ours")
    assert.deepStrictEqual(await list("--limit", "2"), [newer, older])
    assert.deepStrictEqual(await list("--limit", "1", "--before", String(newer.quarantineId)), [older])
    for (const limit of ["0", "501"])
      assert.strictEqual((await service.cli(quarantine("list", "--limit", limit))).status, 2)
  })
})

describe("operator surface, venue quarantine drop", () => {
  it("marks it, keeps it, and writes down who; a second time is refused", async () => {
    expectAlarm()
    const aside = await setAside()
    const id = String(aside.quarantineId)
    const before = await rowCounts(service)
    const dry = await service.done([...quarantine("drop", id), "--dry-run"])
    assert.strictEqual(dry.answer.quarantineId, aside.quarantineId)
    assert.deepInclude(dry.would.rows, { audit: 1 })
    assert.deepStrictEqual(await rowCounts(service), before)
    assert.isNull((await list())[0]?.droppedAt)

    const dropped = await service.done(quarantine("drop", id))
    assert.deepStrictEqual({ ...dropped, droppedAt: null }, aside)
    assert.isNumber(dropped.droppedAt)
    assert.deepStrictEqual(await lastAudit(), {
      action: "venue.drop",
      object: `quarantinedEvent:${id}`,
      role: "ADMIN",
      before: "KEPT",
      after: "DROPPED",
      reason: aside.reason
    })
    assert.deepStrictEqual((await list())[0], dropped)
    const again = await service.cli(quarantine("drop", id))
    assert.deepStrictEqual(
      [again.status, again.refusal.code, again.refusal.msg],
      [1, 4092, "This was dropped already."]
    )
  })

  it("of two at once one drops it", async () => {
    expectAlarm()
    const id = String((await setAside()).quarantineId)
    const both = await Promise.all([service.cli(quarantine("drop", id)), service.cli(quarantine("drop", id), "SECOND")])
    assert.sameMembers(
      both.map(({ status }) => status),
      [0, 1]
    )
    assert.strictEqual(both.find(({ status }) => status === 1)?.refusal.code, 4092)
  })

  it("only the administrator may; a person is asked, and a no changes nothing", async () => {
    expectAlarm()
    const aside = await setAside()
    const words = quarantine("drop", String(aside.quarantineId))
    for (const role of ["FINANCE", "COMPLIANCE", "SUPPORT"] as const) {
      assert.strictEqual((await service.cli(words, role)).refusal.code, 4034)
    }
    const asked: Array<string> = []
    const confirm = (question: string) => {
      asked.push(question)
      return false
    }
    const ran = await runRecorded([...words, ...service.connection("ADMIN")], { confirm, terminal: true })
    assert.deepStrictEqual(asked, [`Drop ${aside.quarantineId}? It is not applied, and stays on file.`])
    assert.notStrictEqual(ran.status, 0)
    assert.deepStrictEqual((await list())[0], aside)
  })

  it("an id that is not there, or is none", async () => {
    for (const id of ["999999", "first", "0", "-1"]) {
      const ran = await service.cli(
        ["venue", "quarantine", "drop", "--", id].filter((word) => id === "-1" || word !== "--")
      )
      assert.isTrue(ran.status === 2 || ran.refusal.code === 4004, `${id}: ${ran.stderr}`)
    }
    const { status, refusal } = await service.cli(quarantine("drop", "999999"))
    assert.deepStrictEqual([status, refusal.code, refusal.msg], [1, 4004, "Quarantined event not found."])
  })
})

describe("operator surface, metrics of the venue", () => {
  it("feed, calls and quarantined messages are counted", async () => {
    expectAlarm()
    const figures = async () => {
      const { metrics } = await service.done(["metrics"], "SUPPORT")
      const lines: ReadonlyArray<string> = metrics.split("\n").filter((line: string) => !line.startsWith("#"))
      return new Map(lines.map((line) => [line.split(" ")[0] ?? "", Number(line.split(" ")[1])]))
    }
    await vi.waitFor(async () => assert.strictEqual((await figures()).get("brokerage_feed_connected"), 1), {
      timeout: 10_000
    })
    const before = await figures()
    assert.isAtLeast(before.get("brokerage_feed_connections_total") ?? 0, 1)
    assert.isAtLeast(before.get("brokerage_feed_listings_total") ?? 0, 1)
    for (const name of ["gaps_total", "wrong_checksums_total", 'messages_total{end="absurd"}']) {
      assert.strictEqual(before.get(`brokerage_feed_${name}`), 0, name)
    }
    for (const name of [
      'calls{state="in_flight"}',
      'calls{state="lost"}',
      "lookups_total",
      "alarms_total",
      "calls_made_total"
    ]) {
      assert.isTrue(before.has(`brokerage_venue_${name}`), name)
    }
    await setAside()
    const name = "brokerage_venue_set_aside_total"
    assert.strictEqual((await figures()).get(name), (before.get(name) ?? 0) + 1)
  })
})

describe("operator surface, venue quarantine without a venue, outside a sandbox", () => {
  it("is there, and empty", async () => {
    const other = await startOperatorService({ settings: { sandbox: false } })
    try {
      assert.deepStrictEqual(await other.done(quarantine("list")), { events: [] })
      assert.strictEqual((await other.cli(quarantine("drop", "1"))).refusal.code, 4004)
    } finally {
      await other.stop()
    }
  })
})
