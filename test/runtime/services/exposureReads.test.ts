/**
 * ExposureReads over Postgres and over the memory store: the same accounts for the same commits, each complete wherever
 * the pages end, so that the risk index of the simulation starts like the service's (D23; architecture, Proof).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { contractInput } from "../../../src/machines/contract/contractSamples.ts"
import { perpInput } from "../../../src/machines/order/orderSamples.ts"
import { firstRow } from "../../../src/runtime/effects/machineRow.ts"
import { ExposureReads } from "../../../src/runtime/ports/ExposureReads.ts"
import { ExposureReadsMemory } from "../../../src/runtime/ports/ExposureReadsMemory.ts"
import { type ExposedAccount, readExposures } from "../../../src/runtime/store/reads/exposureReads.ts"
import { type BothStores, openBothStores } from "../engine/bothStores.ts"
import { clientCommit, sampleRows } from "../engine/fixtures.ts"
import { tradingRows } from "../engine/tradingFixtures.ts"

const day = 20_717
const symbols = ["BTC-USDC-PERP", "ETH-USDC-PERP", "SOL-USDC-PERP"]

const contract = firstRow(
  "barrierContracts",
  { ...contractInput, clientId: 1 },
  {
    id: 1,
    partnerId: 1,
    clientId: 1,
    rfqId: 1,
    symbol: "BTC-USDC-KO",
    currency: "USDC",
    amount: 7n,
    commission: 1n,
    openedAt: 1
  }
).row

/** Orders of the first clients: one that opens, one that only closes, one on spot, and one that has ended. */
const orderOf = (clientId: number) => {
  const columns = { id: clientId, partnerId: 1, clientId, symbol: perpInput.symbol, currency: "USDC", amount: 0n }
  const input = { ...perpInput, clientId, orderId: clientId, reduceOnly: clientId === 2 }
  const family = clientId === 3 ? ("SPOT" as const) : ("PERP" as const)
  const { row } = firstRow("orders", { ...input, family }, { ...columns, parentOrderId: null, createdAt: 1 })
  return { ...row, state: clientId === 4 ? ("CANCELLED" as const) : ("ACKED" as const) }
}

/** The third client has no open position; each other client has a number that depends on its id. */
const rowsOf = (clientId: number) => {
  const { clients, balances, riskMonitors } = sampleRows(clientId)
  const { positions, leverages, lossNotices } = tradingRows(clientId)
  const held = symbols.slice(0, 1 + (clientId % symbols.length))
  return {
    clients: [{ ...clients, partnerId: 1 }],
    balances: [{ ...balances, clientId, currency: "USDC", cash: BigInt(clientId) * 1_000_000n }],
    positions: held.map((symbol, at) => ({
      ...positions,
      id: 10 * clientId + at,
      clientId,
      symbol,
      state: clientId === 3 ? ("FLAT" as const) : ("OPEN" as const)
    })),
    leverages: clientId % 2 === 0 ? [{ ...leverages, clientId }] : [],
    // Loss notices of another position, of another day, and of today.
    lossNotices: [
      {
        ...lossNotices,
        clientId,
        day: clientId === 4 ? day - 1 : day,
        openedAt: clientId === 5 ? 1 : lossNotices.openedAt
      }
    ],
    riskMonitors: clientId === 2 ? [{ ...riskMonitors, clientId, state: "MARGIN_CALL" as const }] : [],
    barrierContracts: clientId === 1 ? [contract] : [],
    orders: clientId < 5 ? [orderOf(clientId)] : []
  }
}

const expectedOf = (clientId: number): ExposedAccount => {
  const { positions, lossNotices, leverages } = rowsOf(clientId)
  return {
    clientId,
    categorization: rowsOf(clientId).clients[0]?.categorization ?? "RETAIL",
    cash: BigInt(clientId) * 1_000_000n,
    premiums: clientId === 1 ? 7n : 0n,
    recorded: clientId === 2 ? "MARGIN_CALL" : "NORMAL",
    positions: positions.map(({ symbol, netQty, avgEntry }) => ({
      symbol,
      netQty,
      avgEntry,
      chosen: leverages.find((row) => row.symbol === symbol)?.leverage ?? null,
      notified: symbol === lossNotices[0]?.symbol && clientId !== 4 && clientId !== 5 ? 10 : 0
    }))
  }
}

const ids = [1, 2, 3, 4, 5, 6, 7]
const expected = ids.filter((id) => id !== 3).map(expectedOf)

const inOrder = (accounts: ReadonlyArray<ExposedAccount>): ReadonlyArray<ExposedAccount> =>
  accounts
    .map((account) => ({
      ...account,
      positions: account.positions.toSorted((one, other) => (one.symbol < other.symbol ? -1 : 1))
    }))
    .toSorted((one, other) => one.clientId - other.clientId)

describe("ExposureReads", () => {
  let both: BothStores
  let reads: ReadonlyArray<ExposureReads["Service"]>

  beforeAll(async () => {
    both = await openBothStores(ids.map((id) => clientCommit(id, null, { rows: rowsOf(id) })))
    reads = [
      await both.build(ExposureReads, ExposureReads.layer),
      await both.build(ExposureReads, ExposureReadsMemory.layer(both))
    ]
  })
  afterAll(() => both.close())

  it("gives every account with open positions, equally from the database and from the memory store", async () => {
    for (const each of reads) {
      const found: Array<ExposedAccount> = []
      await Effect.runPromise(each.each(day, (account) => found.push(account)))
      assert.deepStrictEqual(inOrder(found), expected)
    }
  })

  it("gives the clients with working perpetual orders, also with reducing ones alone", async () => {
    for (const each of reads) {
      const found: Array<number> = []
      await Effect.runPromise(each.ordering((clientId) => void found.push(clientId)))
      assert.deepStrictEqual(found, [1, 2])
    }
  })

  it("gives each account once and whole, however they are divided into pages", async () => {
    const sql = await both.build(PgClient.PgClient, Layer.effect(PgClient.PgClient, PgClient.PgClient))
    for (const length of [4, 5, 6, 11, 12, 13, 14]) {
      const found: Array<ExposedAccount> = []
      for (let after: number | null = 0; after !== null;)
        after = await Effect.runPromise(readExposures(sql, { after, day }, (account) => found.push(account), length))
      assert.deepStrictEqual(inOrder(found), expected)
    }
  })
})
