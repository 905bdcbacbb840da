/**
 * The simulated venue under kill -9 at random moments while it receives calls, and on a full disk. Afterwards it has
 * all acknowledged calls, its published messages still hold, and its books are those to which its log replays (C1,
 * Restart).
 */
import { afterEach, assert, describe, it } from "@effect/vitest"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { type LogDisk, realDisk } from "../../simulator/venue/log/LogDisk.ts"
import { openBooks } from "../../simulator/venue/server/books.ts"
import { restingOrder, runVenue } from "../venue/runningVenue.ts"
import { endChild, startChild, type VenueChild } from "../venue/venueChild.ts"
import type { Line } from "../venue/venueClient.ts"

const folders: Array<string> = []
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), "brokerage-venue-crash-"))
  folders.push(made)
  return made
}
const children: Array<VenueChild> = []
afterEach(async () => {
  for (const child of children.splice(0)) await endChild(child, "SIGKILL")
  for (const each of folders.splice(0)) rmSync(each, { recursive: true, force: true })
})

const accounts = ["CL1", "CL2", "CL3"]
const nothing = { event: () => undefined, market: () => undefined }

/** A random call: orders that rest, cross or are cancelled. */
const anyCall = (random: SeededRandom, ref: string, earlier: ReadonlyArray<string>) => {
  const account = random.pick(accounts)
  if (earlier.length > 0 && random.chance(0.2)) {
    return ["/venue/v1/orders/cancel", { ref, account, target: random.pick(earlier) }] as const
  }
  const crosses = random.chance(0.4)
  return [
    "/venue/v1/orders",
    restingOrder(ref, {
      account,
      symbol: random.pick(["BTC-USDC-PERP", "ETH-USDC-PERP", "BTC-USDC"]),
      side: random.pick(["BUY", "SELL"]),
      qty: "0.01",
      ...(crosses ? { price: null, tif: "IOC" } : { price: random.pick(["58000", "3050"]) })
    })
  ] as const
}

describe("kill -9 of the venue", () => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1_000_000))
  it(
    `every acknowledged call is there, and published messages still hold (SEED=${seed})`,
    { timeout: 120_000 },
    async () => {
      const random = new SeededRandom(seed)
      const directory = folder()
      const acknowledged = new Map<string, Line>()
      const streamed = new Map<number, Line>()
      let asked = 0
      for (let round = 0; round < 4; round++) {
        const venue = await startChild(directory)
        children.push(venue)
        if (round === 0) {
          for (const account of accounts)
            await venue.client.ask("/venue/v1/accounts", { ref: `open-${account}`, account })
        }
        await holds(venue, acknowledged, streamed)
        const stream = await venue.client.open(`/venue/v1/events?after=${Math.max(0, ...streamed.keys())}`)
        let left = random.between(20, 120)
        const caller = async (): Promise<void> => {
          for (;;) {
            const ref = `c${++asked}`
            const [path, body] = anyCall(random, ref, [...acknowledged.keys()])
            const answer = await venue.client.ask(path, body).catch(() => null)
            if (answer === null) return
            acknowledged.set(ref, answer.json)
            if (--left === 0) venue.child.kill("SIGKILL")
          }
        }
        await Promise.all(Array.from({ length: 8 }, caller))
        assert.strictEqual(await venue.ended, "SIGKILL")
        await stream.ended
        for (const line of stream.waiting()) if (line.fact !== undefined) streamed.set(line.number, line)
      }
      const last = await startChild(directory)
      children.push(last)
      await holds(last, acknowledged, streamed)
      assert.isAbove(acknowledged.size, 80)
      assert.isAbove(streamed.size, 20)
      await endChild(last, "SIGKILL")
      await replaysAlike(directory)
    }
  )
})

/**
 * Compares acknowledged calls and published messages with the venue's present answers. An order may have progressed
 * since, so only its identity is compared.
 */
const holds = async (
  { client }: VenueChild,
  acknowledged: ReadonlyMap<string, Line>,
  streamed: ReadonlyMap<number, Line>
): Promise<void> => {
  const refs = [...acknowledged.keys()]
  for (let at = 0; at < refs.length; at += 500) {
    const { outcomes } = (await client.ask("/venue/v1/lookups", { refs: refs.slice(at, at + 500) })).json
    for (const now of outcomes as ReadonlyArray<Line>) {
      const then = acknowledged.get(now.ref)
      assert.deepStrictEqual(
        [now.ref, now.outcome, now.reason, now.order?.id],
        [then.ref, then.outcome, then.reason, then.order?.id]
      )
    }
  }
  if (streamed.size === 0) return
  const stream = await client.open("/venue/v1/events?after=0")
  for (let number = 1; number <= Math.max(...streamed.keys()); number++) {
    const line = await stream.next((each) => each.fact !== undefined)
    assert.strictEqual(line.number, number)
    const then = streamed.get(number)
    if (then !== undefined) assert.deepStrictEqual(line, then)
  }
  stream.close()
}

/** Checks that two replays of one log, the second after a snapshot, give equal books in every field. */
const replaysAlike = async (directory: string): Promise<void> => {
  const states = []
  const copy = folder()
  cpSync(directory, copy, { recursive: true })
  for (const place of [copy, directory, directory]) {
    const { log, venue } = await openBooks(
      { directory: place, seed: null, markets: null, print: () => undefined },
      nothing
    )
    states.push(venue.state())
    await log.snapshot()
    await log.close()
  }
  assert.deepStrictEqual(states[0], states[1])
  assert.deepStrictEqual(states[2], states[1])
}

describe("a full disk", () => {
  /** A disk that accepts no bytes while `isFull`, except for the first half of a write, like a real disk. */
  const fillingDisk = () => {
    const state = { isFull: false }
    const disk: LogDisk = {
      ...realDisk,
      open: async (path) => {
        const file = await realDisk.open(path)
        return {
          ...file,
          write: async (position, bytes) => {
            if (!state.isFull) return file.write(position, bytes)
            await file.write(position, bytes.subarray(0, bytes.length >> 1))
            throw new Error("ENOSPC: no space left on device, write")
          }
        }
      }
    }
    return { disk, state }
  }

  it("writes answer 503 and are not executed; reads and streams continue; the venue recovers by itself", async () => {
    const directory = folder()
    const { disk, state } = fillingDisk()
    const venue = await runVenue({ directory, disk })
    const place = (ref: string) => venue.client.ask("/venue/v1/orders", restingOrder(ref))
    const outcomeOf = async (ref: string) =>
      (await venue.client.ask("/venue/v1/lookups", { refs: [ref] })).json.outcomes[0].outcome
    await venue.client.ask("/venue/v1/accounts", { ref: "a1", account: "CL1" })
    await place("before")
    state.isFull = true
    const refused = await Promise.all([place("full-1"), place("full-2")])
    for (const { status, json } of refused) {
      assert.deepStrictEqual([status, json._tag], [503, "VenueClosed"])
      assert.include(json.message, "ENOSPC")
    }
    assert.strictEqual(await outcomeOf("before"), "EXECUTED")
    assert.strictEqual(await outcomeOf("full-1"), "UNKNOWN")
    const stream = await venue.client.open("/venue/v1/events?after=0")
    assert.strictEqual((await stream.next((line) => line.fact !== undefined)).fact.order.ref, "before")
    await stream.next((line) => line.heartbeat)
    state.isFull = false
    assert.strictEqual((await place("full-1")).json.outcome, "EXECUTED")
    assert.strictEqual((await stream.next((line) => line.fact?.order?.ref !== "before")).fact.order.ref, "full-1")
    stream.close()
    await venue.stop()
    const again = await runVenue({ directory })
    const { orders } = (await again.client.ask("/venue/v1/accounts/CL1")).json
    assert.deepStrictEqual(
      orders.map(({ ref }: { ref: string }) => ref),
      ["before", "full-1"]
    )
    await again.end()
  })

  it("a venue whose disk is full from the start can still be read", async () => {
    const directory = folder()
    await (await runVenue({ directory })).stop()
    const { disk, state } = fillingDisk()
    state.isFull = true
    const venue = await runVenue({ directory, disk })
    assert.strictEqual((await venue.client.ask("/venue/v1/market-data/ticker/BTC-USDC-PERP")).status, 200)
    assert.strictEqual((await venue.client.ask("/venue/v1/accounts", { ref: "a1", account: "CL1" })).status, 503)
    await venue.stop()
  })
})
