/**
 * For each fault of the venue (`sim venue fault`) while a request is made, accepted, withdrawn or closed and a contract
 * is torn up, the end is that of D4 and D5: at most one contract, one commission and one settlement each, and agreement
 * of the books and both sides. A real service and the real simulator, in a process of its own.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EmbeddedVenue } from "../../src/runtime/adapters/EmbeddedVenue.ts"
import { ActorHost } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { contractInTurn, tearUp } from "../../src/runtime/services/trading/contract/contractDecisions.ts"
import { faultKinds } from "../../src/venue/testerTokens.ts"
import { query } from "../support/Builders.ts"
import { contractSteps } from "../support/contractSteps.ts"
import { knockOut } from "../support/contractVenue.ts"
import { played } from "../support/every.ts"
import { expectLog } from "../support/expectLog.ts"
import { stepsOf } from "../support/steps.ts"
import { type OperatorService, startOperatorService } from "./operatorHarness.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-faults-"))
const scope = Effect.runSync(Scope.make())
let service: OperatorService
let steps: ReturnType<typeof contractSteps>
/** One client for each step, because calls of one client are sequential. */
let clients: ReadonlyArray<number> = []
beforeAll(async () => {
  const { connection } = await Effect.runPromise(
    EmbeddedVenue.start({ dataDirectory: join(folder, "venue") }).pipe(Scope.provide(scope))
  )
  service = await startOperatorService({ venue: { venue: connection } })
  const { key } = await service.partner({ code: "FLT", custody: "PARTNER" })
  steps = contractSteps(service, key, stepsOf(service, key))
  await venue("price", knockOut, "60000")
  clients = await Promise.all([1, 2, 3, 4, 5].map(() => steps.trader("20000.00")))
}, 60_000)
afterAll(async () => {
  await service.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

const venue = (...words: ReadonlyArray<string>) => service.done(["sim", "venue", ...words])
/** Sends the request until the market is live again after the last fault. */
const request = async (clientId: number, autoAccept: boolean): Promise<number> => {
  const answer = await steps.poll(
    () => steps.post(clientId, "/rfq", steps.rfqBody({ autoAccept })),
    ({ status }) => status === 200
  )
  return answer.json.data.rfqId
}
const opened = async (clientId: number): Promise<number> =>
  (await steps.until(clientId, await request(clientId, true), ({ state }) => state === "ACCEPTED")).contractId
/** A quote of the request that can be accepted now. */
const quoteOf = async (clientId: number, rfqId: number): Promise<number> => {
  const isLive = ({ acceptable }: { readonly acceptable: boolean }) => acceptable
  const { quotes } = await steps.until(clientId, rfqId, (rfq) => rfq.quotes.some(isLive))
  return quotes.find(isLive).quoteId
}
const accepting = async (clientId: number, rfqId: number) => {
  const quoteId = await quoteOf(clientId, rfqId)
  return () => steps.post(clientId, `/rfq/${rfqId}/accept`, { quoteId })
}

/** Steps that are prepared while the venue works, and run while it does not. */
const prepared: ReadonlyArray<(clientId: number) => Promise<() => Promise<unknown>>> = [
  (clientId) => Promise.resolve(() => steps.post(clientId, "/rfq", steps.rfqBody({ autoAccept: false }))),
  async (clientId) => accepting(clientId, await request(clientId, false)),
  async (clientId) => {
    const rfqId = await request(clientId, false)
    return () => steps.post(clientId, `/rfq/${rfqId}/cancel`, {})
  },
  async (clientId) => {
    const contractId = await opened(clientId)
    const { json } = await steps.post(clientId, `/barriers/${contractId}/close`, { autoAccept: false })
    return accepting(clientId, json.data.rfqId)
  },
  async (clientId) => {
    const contractId = await opened(clientId)
    const by = { role: "SYSTEM", keyLabel: "test", requestId: "test", actor: "system:risk" }
    return () =>
      service.run(
        Effect.flatMap(ActorHost, (host) =>
          host.dispatch({
            subject: `client:${clientId}`,
            by,
            lane: "internal",
            decide: (turn) => {
              const row = contractInTurn(turn, contractId)
              if (row !== undefined) tearUp(turn, row)
            }
          })
        )
      )
  }
]

/** The number of times that the fault has applied. */
const strikes = async (): Promise<number> => (await venue("show")).faults[0].struck

const atRest = async () => {
  const [row] = await query<{ readonly n: bigint }>(
    service,
    `SELECT (SELECT count(*) FROM venue_calls)
          + (SELECT count(*) FROM rfqs WHERE state = 'OPEN' AND context ->> 'accepting' IS NOT NULL) AS n`
  )
  return Number(row?.n)
}

/** Faults that these steps can't meet: of orders, funding and staking. */
const others = ["fill-before-ack", "writer-default", "unpriced-funding"]

const kinds = faultKinds.filter((kind) => !others.includes(kind))
/** A lost answer: the deep tier plays the other kinds. */
const usual = kinds.filter((kind) => kind === "timeout-after")

describe("D4, D5: faults of the venue", () => {
  it.each(played({ usual, deep: kinds }))(
    "%s while requests are made, accepted, withdrawn, closed and torn up",
    async (kind) => {
      const doing = await Promise.all(clients.map((clientId, at) => prepared[at]?.(clientId)))
      await venue("fault", kind, "--delay", "1s")
      // A broken line is quarantined, and its account is read again.
      if (kind === "broken-json") expectLog(/a message of the venue is quarantined/)
      await Promise.all(doing.map((step) => step?.()))
      await steps.poll(strikes, (n) => n > 0)
      await venue("clear")
      await venue("price", knockOut, "60000")
      await steps.poll(atRest, (n) => n === 0)
      const { status, json } = await service.cli(["sim", "verify"])
      assert.deepStrictEqual([status, json.first], [0, null])
      const twice = await query(
        service,
        "SELECT rfq_id FROM barrier_contracts GROUP BY rfq_id HAVING count(*) > 1 UNION ALL SELECT id FROM recon_breaks"
      )
      assert.deepStrictEqual(twice, [])
      assert.strictEqual((await service.cli(["ledger", "verify"])).status, 0)
      // Frees the limit on open requests of each client.
      for (const clientId of clients) {
        const open = await query<{ readonly id: bigint }>(
          service,
          "SELECT id FROM rfqs WHERE client_id = $1 AND state = 'OPEN'",
          [BigInt(clientId)]
        )
        for (const { id } of open) await steps.post(clientId, `/rfq/${id}/cancel`, {})
      }
    },
    60_000
  )
})
