/**
 * Statements that the service makes by itself (A2-68, STS-28, STS-29): each is made once, in the order of due times,
 * for the right clients, whatever was missed. A client that fails is named and retried, and delays no other client.
 */
import { assert, describe, it, vi } from "@effect/vitest"
import { Layer } from "effect"
import { layerVenueProgressMemory } from "../../src/runtime/ports/VenueProgressMemory.ts"
import { advance, query, rowsOf } from "../support/Builders.ts"
import { expectLog } from "../support/expectLog.ts"
import { inTurn, putFill, putOrder } from "../support/orderRows.ts"
import { quickClock } from "../support/quickClock.ts"
import { openScenario } from "../support/Scenario.ts"
import { startService } from "../support/Service.ts"
import { firstCopy, storeNight } from "../support/storedNight.ts"

const day = 86_400_000
/** The interval of checks for failures that are due again, ms. */
const retryLook = 20_000
const clock = quickClock()
const { service, client, now, call } = await openScenario({
  damaged: true,
  // Without a venue there are no events to wait for. The option passes the clock to the workers.
  venue: { progress: Layer.merge(layerVenueProgressMemory(), clock.layer) }
})
/**
 * Starts at noon: statements are due half an hour after midnight, so a jump of one day from just after midnight would
 * not reach them.
 */
await advance(service, day + day / 2 - ((await now()) % day))

/** The client that is copied after a year, when the KYC data of all others are too old. */
const template = await client()

/** Waits until no job is due before a moment (default: now). */
const settled = async (patience = 25_000): Promise<void> => {
  const moment = await now()
  await vi.waitFor(
    async () => {
      const jobs = await rowsOf(service, "statementJobs")
      const last = jobs.findLast(({ name }) => name !== "EQUITIES")
      assert.isTrue(jobs.every(({ endedAt }) => endedAt !== null))
      assert.isAbove((last?.dueAt ?? 0) + day, moment)
      assert.isAtLeast(jobs.findLast(({ name }) => name === "EQUITIES")?.periodTo ?? 0, moment - (moment % day))
    },
    { timeout: patience, interval: 50 }
  )
}
const trade = (clientId: number): Promise<void> =>
  inTurn(service, clientId, (turn) => void putFill(turn, putOrder(turn, { state: "FILLED" }), { commission: 0n }))
const statements = async (kind: string, clientId?: number) =>
  (await rowsOf(service, "statements", "kind = $1", [kind])).filter(
    (row) => row.clientId === (clientId ?? row.clientId)
  )
const readyOf = (clientId: number) =>
  rowsOf(service, "notifications", "client_id = $1 AND kind = 'STATEMENT_READY'", [BigInt(clientId)])
const money = async (clientId: number, partnerRef: string): Promise<void> => {
  const answer = await call("POST", clientId, "/collateral", { partnerRef, direction: "DEPOSIT", amount: "100" })
  assert.strictEqual(answer.status, 201, answer.text)
}

describe("statement jobs", () => {
  it("STS-29: an end-of-day run makes TRANSACTIONS for clients with trades, once and with one notification, and for no others", async () => {
    const [trader, holder] = [await client(), await client()]
    await trade(trader)
    await trade(trader)
    await money(holder, "n-1")
    await advance(service, day)
    await settled()
    const [row, ...more] = await statements("TRANSACTIONS", trader)
    assert.deepStrictEqual([row?.context.rows, row?.context.generatedBy, more.length], [2, "SYSTEM", 0])
    assert.deepStrictEqual(
      (await readyOf(trader)).map(({ ref }) => ref),
      [String(row?.id)]
    )
    assert.lengthOf(await statements("TRANSACTIONS", holder), 0)
    const asked = await call("POST", trader, "/statements", {
      kind: "TRANSACTIONS",
      from: row?.periodFrom,
      to: row?.periodTo
    })
    assert.deepStrictEqual([asked.status, asked.json.statementId], [200, row?.id], "who asks finds what the night made")
  })

  it("STS-19: a booking during a jump over midnights is in one statement, and no existing statement loses content", async () => {
    const trader = await client()
    for (let jump = 0; jump < 3; jump++) {
      const before = Array.from({ length: 20 }, () => trade(trader))
      const jumped = advance(service, day)
      await Promise.all([...before, ...Array.from({ length: 20 }, () => trade(trader)), jumped])
      await settled()
    }
    await advance(service, day)
    await settled()
    const made = await statements("TRANSACTIONS", trader)
    const fills = await rowsOf(service, "fills", "client_id = $1", [BigInt(trader)])
    assert.lengthOf(fills, 120)
    let stated = 0
    for (const { id, periodFrom: from, periodTo: to, context, number } of made) {
      assert.strictEqual(context.rows, fills.filter(({ bookedAt }) => bookedAt >= from && bookedAt < to).length)
      stated += context.rows
      // Changed facts would make another version.
      const again = await call("POST", trader, "/statements", { kind: "TRANSACTIONS", from, to })
      assert.deepStrictEqual([again.json.statementId, number], [id, 1])
    }
    assert.strictEqual(stated, fills.length)
  }, 60_000)

  it("STS-28: the equities of each midnight are stored for every client with holdings, and equal the replay", async () => {
    const [holder, nobody] = [await client(), await client()]
    await money(holder, "e-1")
    await advance(service, 3 * day)
    await settled()
    const kept = (await rowsOf(service, "dailyEquities")).filter((row) => row.clientId === holder)
    assert.deepStrictEqual(
      kept.map(({ equity }) => equity),
      [100_000_000n, 100_000_000n, 100_000_000n]
    )
    assert.lengthOf(
      (await rowsOf(service, "dailyEquities")).filter((row) => row.clientId === nobody),
      0
    )
  })

  it("STS-29: a failed client is named and retried, and the others get their statements", async () => {
    const [good, bad, later] = [await client(), await client(), await client()]
    for (const each of [good, bad, later]) await trade(each)
    await query(service, "UPDATE fills SET currency = 'XXX' WHERE client_id = $1", [BigInt(bad)])
    expectLog(/a job could not make a client's statement/)
    await advance(service, day)
    await settled()
    for (const each of [good, later]) assert.lengthOf(await statements("TRANSACTIONS", each), 1)
    assert.lengthOf(await statements("TRANSACTIONS", bad), 0)
    const [failure] = await rowsOf(service, "statementJobFailures", "client_id = $1", [BigInt(bad)])
    assert.deepInclude(failure, { state: "OPEN" })
    // An error from other code is named only by its kind, because its message may contain values.
    assert.strictEqual(failure?.reason, "TypeError")
    await query(service, "UPDATE fills SET currency = 'USDC' WHERE client_id = $1", [BigInt(bad)])
    await advance(service, 3_600_000)
    await vi.waitFor(
      async () => {
        clock.end(retryLook)
        const [solved] = await rowsOf(service, "statementJobFailures", "client_id = $1", [BigInt(bad)])
        assert.strictEqual(solved?.state, "SOLVED")
      },
      { timeout: 28_000, interval: 100 }
    )
    assert.lengthOf(await statements("TRANSACTIONS", bad), 1)
    assert.lengthOf(await readyOf(bad), 1)
  }, 90_000)

  it("STS-29: the jobs of a missed year run in the order of due times, each once, British tax in its turn", async () => {
    const holder = await client()
    await money(holder, "y-1")
    await advance(service, 366 * day)
    await settled(80_000)
    const jobs = (await rowsOf(service, "statementJobs")).filter(({ name }) => name !== "EQUITIES")
    const due = jobs.map(({ dueAt }) => dueAt)
    assert.deepStrictEqual(
      due,
      due.toSorted((one, other) => one - other)
    )
    assert.strictEqual(new Set(jobs.map(({ name, periodFrom }) => `${name} ${periodFrom}`)).size, jobs.length)
    for (const name of ["CLIENT_ASSETS", "COSTS", "TAX", "TAX_GB", "TAX_GB_FINAL"])
      assert.isAbove(jobs.filter((job) => job.name === name).length, 0, name)
    for (const kind of ["CLIENT_ASSETS", "COSTS", "TAX"])
      assert.isAbove((await statements(kind, holder)).length, 0, kind)
    const versions = await query<{ n: bigint }>(service, "SELECT count(*) AS n FROM statements WHERE number > 1")
    assert.strictEqual(versions[0]?.n, 0n, "nothing says another thing when it is made again")
  }, 120_000)

  it("STS-29: two services in the same end-of-day run make each statement once, and each execution is in one", async () => {
    const orderId = await inTurn(service, template, (turn) => putOrder(turn, { state: "FILLED" }))
    const midnight = (await now()) - ((await now()) % day)
    const clients = 150
    await storeNight((text) => query(service, text), {
      clientId: template,
      orderId,
      clients,
      trades: 3,
      at: midnight + day
    })
    const second = await startService({ database: service.database })
    try {
      const ahead = (await now()) - Date.now()
      // The older service may have noticed by then that it no longer owns the database.
      await Promise.allSettled([advance(second, ahead + 2 * day), advance(service, 2 * day)])
      await vi.waitFor(
        async () => {
          const [row] = await query<{ n: bigint }>(
            service,
            "SELECT count(*) AS n FROM statements WHERE client_id > $1",
            [BigInt(firstCopy)]
          )
          assert.strictEqual(Number(row?.n), clients)
        },
        { timeout: 60_000, interval: 100 }
      )
      const rows = await rowsOf(service, "statements", "client_id > $1 AND kind = 'TRANSACTIONS'", [BigInt(firstCopy)])
      assert.strictEqual(new Set(rows.map(({ clientId }) => clientId)).size, clients)
      assert.isTrue(rows.every(({ context }) => context.rows === 3))
      const told = await rowsOf(service, "notifications", "client_id > $1 AND kind = 'STATEMENT_READY'", [
        BigInt(firstCopy)
      ])
      assert.sameMembers(
        told.map(({ ref }) => ref),
        rows.map(({ id }) => String(id))
      )
    } finally {
      await second.stop()
    }
  }, 120_000)
})
