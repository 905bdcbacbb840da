/**
 * LevelReads over Postgres and over the memory store: the same open contracts for the same commits, complete wherever
 * the pages end, so that the index of the simulation starts like the service's (A2-31; architecture, Proof).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Level } from "../../../src/machines/contract/Contract.ts"
import { contractInput } from "../../../src/machines/contract/contractSamples.ts"
import { firstRow } from "../../../src/runtime/effects/machineRow.ts"
import { LevelReads } from "../../../src/runtime/ports/LevelReads.ts"
import { LevelReadsMemory } from "../../../src/runtime/ports/LevelReadsMemory.ts"
import { type LevelsCursor, type OpenLevels, readLevels } from "../../../src/runtime/store/reads/levelReads.ts"
import { type BothStores, openBothStores } from "../engine/bothStores.ts"
import { clientCommit } from "../engine/fixtures.ts"

const notified: ReadonlyArray<ReadonlyArray<Level>> = [[], ["BARRIER"], ["TAKE_PROFIT", "BARRIER"]]
const openOf = (id: number): OpenLevels => ({
  contractId: id,
  clientId: 1 + (id % 4),
  symbol: id % 2 === 0 ? "BTC-USDC-KO" : "ETH-USDC-KO",
  side: id % 5 === 0 ? "SELL" : "BUY",
  barrier: `${57_000 + id}.0`,
  takeProfit: id % 3 === 0 ? null : `${63_000 + id}.5`,
  notified: notified[id % notified.length] as ReadonlyArray<Level>
})
const open = Array.from({ length: 11 }, (_, n) => openOf(n + 1))

const rowOf = ({ contractId, clientId, symbol, side, barrier, takeProfit, notified }: OpenLevels, state = "OPEN") => {
  const input = { ...contractInput, contractId, clientId, symbol, side, barrier, takeProfit }
  const { row } = firstRow("barrierContracts", input, {
    id: contractId,
    partnerId: 1,
    clientId,
    rfqId: contractId,
    symbol,
    currency: "USDC",
    amount: 1n,
    commission: 1n,
    openedAt: 1
  })
  return { ...row, state, context: { ...row.context, said: notified } } as typeof row
}

const inOrder = (contracts: ReadonlyArray<OpenLevels>) =>
  contracts.toSorted((one, other) => one.contractId - other.contractId)

describe("LevelReads", () => {
  let both: BothStores
  let reads: ReadonlyArray<LevelReads["Service"]>

  beforeAll(async () => {
    const rows = [...open.map((contract) => rowOf(contract)), rowOf(openOf(12), "KNOCKED_OUT")]
    both = await openBothStores(
      [...Map.groupBy(rows, ({ clientId }) => clientId)].map(([id, barrierContracts]) =>
        clientCommit(id, null, { rows: { barrierContracts } })
      )
    )
    reads = [await both.build(LevelReads, LevelReads.layer), await both.build(LevelReads, LevelReadsMemory.layer(both))]
  })
  afterAll(() => both.close())

  it("gives every open contract with its reported levels, equally from the database and from the memory store", async () => {
    for (const each of reads) {
      const found: Array<OpenLevels> = []
      await Effect.runPromise(each.each((contract) => found.push(contract)))
      assert.deepStrictEqual(inOrder(found), open)
    }
  })

  it("gives each contract once, however they are divided into pages", async () => {
    const sql = await both.build(PgClient.PgClient, Layer.effect(PgClient.PgClient, PgClient.PgClient))
    for (const length of [1, 2, 3, 10, 11, 12]) {
      const found: Array<OpenLevels> = []
      let pages = 0
      for (let after: LevelsCursor | null = { clientId: 0, contractId: 0 }; after !== null; pages++)
        after = await Effect.runPromise(readLevels(sql, after, (contract) => found.push(contract), length))
      assert.deepStrictEqual(inOrder(found), open)
      assert.strictEqual(pages, Math.floor(open.length / length) + 1)
    }
  })
})
