/** A world of traders of knock-out contracts, with the conditions that both sides must meet in the end (D4, D5). */
import { assert, vi } from "@effect/vitest"
import type { VenueContract } from "../../src/machines/venue/venueObjects.ts"
import { dataOf, type RealService } from "../support/RealService.ts"
import type { VenueClient } from "../venue/venueClient.ts"
import { makeTradeWorld, type Trader, type TradeWorld } from "./tradeWorld.ts"

interface Quote {
  readonly quoteId: number
  readonly acceptable: boolean
}

/** A contract in this service, with its bookings. */
export interface BookedContract {
  readonly id: bigint
  readonly client_id: bigint
  readonly state: string
  readonly venue_contract_id: string
  readonly commissions: bigint
  readonly settlements: bigint
}

const booked = (type: string): string =>
  `(SELECT count(*) FROM ledger_transactions l WHERE l.type = '${type}' AND l.refs->>'contractId' = c.id::text)`

const contractsText = `SELECT c.id, c.client_id, c.state, c.context->>'venueContractId' AS venue_contract_id,
  ${booked("COMMISSION")} AS commissions, ${booked("BARRIER_SETTLE")} AS settlements FROM barrier_contracts c ORDER BY c.id`

/** Requests without automatic accept, and the dealers' quotes on them. */
export const quotesOf = ({ post }: Pick<TradeWorld, "post">) => {
  /** A quote of the request that can be accepted now. */
  const quoteOf = (service: RealService, { id, key }: Trader, rfqId: number): Promise<number> =>
    vi.waitFor(
      async () => {
        const { quotes } = dataOf(await service.call(key, "GET", `/clients/${id}/rfq/${rfqId}`))
        const live = (quotes as ReadonlyArray<Quote>).find(({ acceptable }) => acceptable)
        if (live === undefined) throw new Error(`no quote of request ${rfqId} can be taken`)
        return live.quoteId
      },
      { timeout: 20_000, interval: 50 }
    )

  /** Sends a request to open once the market is live. Returns it with a quote that can be accepted now. */
  const quoted = async (service: RealService, trader: Trader, body: object) => {
    const made = async () => dataOf(await post(service, trader, "/rfq", body)) as { readonly rfqId: number }
    const { rfqId } = await vi.waitFor(made, { timeout: 20_000, interval: 100 })
    return { rfqId, quoteId: await quoteOf(service, trader, rfqId) }
  }

  return { quoteOf, quoted }
}

export const makeContractWorld = async (name: string) => {
  const world = await makeTradeWorld(name)
  const { query } = world

  /** The contracts once no call is in flight. With `openRequests`, requests may still be open. */
  const atRest = (about: string, openRequests = false): Promise<ReadonlyArray<BookedContract>> =>
    vi.waitFor(
      async () => {
        const waiting = openRequests
          ? "state = 'CREATING' OR (state = 'OPEN' AND context->>'accepting' IS NOT NULL)"
          : "state IN ('CREATING', 'OPEN')"
        const left = await query(`SELECT ref FROM venue_calls UNION ALL SELECT id::text FROM rfqs WHERE ${waiting}`)
        assert.deepStrictEqual(left, [], about)
        return await query<BookedContract>(contractsText)
      },
      { timeout: 90_000, interval: 250 }
    )

  /**
   * Compares these accounts with the venue's books: each contract exists here once, in the venue's state, with one
   * commission and one settlement.
   */
  const hold = async (
    client: VenueClient,
    traders: ReadonlyArray<Trader>,
    all: ReadonlyArray<BookedContract>,
    about: string
  ): Promise<void> => {
    const rows = all.filter((row) => traders.some(({ id }) => BigInt(id) === row.client_id))
    const accounts = await Promise.all(traders.map(world.accountOf))
    const answers = await Promise.all(accounts.map((account) => client.ask(`/venue/v1/accounts/${account}`)))
    const there = answers.flatMap(({ json }) => json.contracts as ReadonlyArray<VenueContract>)
    assert.sameMembers(
      there.map(({ id }) => String(id)),
      rows.filter(({ state }) => state === "OPEN").map((row) => row.venue_contract_id),
      about
    )
    assert.strictEqual(new Set(rows.map((row) => row.venue_contract_id)).size, rows.length, about)
    for (const { id, state, commissions, settlements } of rows) {
      assert.deepStrictEqual([commissions, settlements], [1n, state === "OPEN" ? 0n : 1n], `contract ${id}, ${about}`)
    }
  }

  return { ...world, ...quotesOf(world), atRest, hold }
}

export type ContractWorld = Awaited<ReturnType<typeof makeContractWorld>>
