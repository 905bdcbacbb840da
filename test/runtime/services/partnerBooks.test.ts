/**
 * PartnerBooks over Postgres and over the memory store: the same figures for the same commits, so that a custody change
 * in the simulation gives the same result as on the database (architecture, Proof; doc 3, Changing the custody model).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Commit } from "../../../src/runtime/engine/journal/Commit.ts"
import { PartnerBooks } from "../../../src/runtime/ports/PartnerBooks.ts"
import { PartnerBooksMemory } from "../../../src/runtime/ports/PartnerBooksMemory.ts"
import { type BothStores, openBothStores } from "../engine/bothStores.ts"
import { clientCommit, commitOf, sampleRows } from "../engine/fixtures.ts"

const ids = [1, 2, 3, 4, 5, 6, 7]

/** Seven clients of one partner with money of both signs and currencies, open work of every kind, and a payment. */
const commits: ReadonlyArray<Commit> = [
  commitOf({ rows: { partners: [sampleRows(1).partners], interfirmRecords: [sampleRows(1).interfirmRecords] } }),
  ...ids.map((id) => {
    const rows = sampleRows(id)
    const txId = rows.ledgerTransactions.txId
    const posting = { ...rows.postings, txId, clientId: id, currency: "USDC", kind: "cash" as const }
    const currency = id % 3 === 0 ? "EUR" : "USDC"
    const cash = id % 2 === 0 ? -5n : BigInt(id)
    return clientCommit(id, null, {
      rows: {
        balances: [{ ...rows.balances, clientId: id, currency, cash, reserved: id > 5 ? 3n : 0n }],
        depositNotices: [{ ...rows.depositNotices, clientId: id, state: id === 4 ? "REJECTED" : "PENDING" }],
        withdrawalRequests: [{ ...rows.withdrawalRequests, clientId: id, state: id < 3 ? "REQUESTED" : "APPROVED" }],
        settlementItems: [{ ...rows.settlementItems, clientId: id, state: "PENDING" }],
        ledgerTransactions: [{ ...rows.ledgerTransactions, txId, type: "PARTNER_COLLATERAL_IN", clientId: id }],
        postings: [
          { ...posting, amount: BigInt(id) },
          { ...posting, postingId: posting.postingId + 1_000, clientId: null, account: "house", amount: -BigInt(id) }
        ]
      }
    })
  })
]

describe("PartnerBooks", () => {
  let both: BothStores
  let postgres: PartnerBooks["Service"]
  let memory: PartnerBooks["Service"]

  beforeAll(async () => {
    both = await openBothStores(commits)
    postgres = await both.build(PartnerBooks, PartnerBooks.layer)
    memory = await both.build(PartnerBooks, PartnerBooksMemory.layer(both))
  })
  afterAll(() => both.close())

  const questions: ReadonlyArray<
    readonly [what: string, ask: (books: PartnerBooks["Service"]) => Effect.Effect<unknown, unknown>]
  > = [
    ["what clients hold", (books) => books.held(1, false)],
    ["what clients hold in USDC", (books) => books.held(1, true)],
    ["the custody account and the payments", (books) => books.custodyAccount(1)],
    ["what is open", (books) => books.open(1)],
    ["what is outstanding", (books) => books.outstanding(1)]
  ]

  for (const [what, ask] of questions)
    it(`shows ${what} equally from the database and from the memory store`, async () => {
      const stored = await Effect.runPromise(ask(postgres))
      assert.notDeepEqual(stored, [])
      assert.deepStrictEqual(await Effect.runPromise(ask(memory)), stored)
    })

  it("shows nothing of another partner", async () => {
    for (const books of [postgres, memory]) {
      assert.deepStrictEqual(await Effect.runPromise(books.held(2, false)), [])
      assert.deepStrictEqual(await Effect.runPromise(books.open(2)), [])
      assert.deepStrictEqual(await Effect.runPromise(books.custodyAccount(2)), { account: "0", paid: "0" })
      assert.strictEqual(await Effect.runPromise(books.outstanding(2)), "0")
    }
  })
})
