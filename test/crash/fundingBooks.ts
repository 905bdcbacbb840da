/**
 * The conditions that a trader's funding must meet in the end (F14): each stamp of the venue is posted once, with its
 * settlement item.
 */
import { assert } from "@effect/vitest"
import { MoneyDecimal } from "../../src/machines/shared/Money.ts"
import type { VenueEvent } from "../../src/machines/venue/VenueEvent.ts"
import type { Trader, TradeWorld } from "./tradeWorld.ts"

interface Posted {
  readonly key: string
  /** Micro-USDC, from the client's view. */
  readonly amount: bigint
  /** The amounts of its settlement items. */
  readonly items: ReadonlyArray<bigint>
}

const postedOf = (clientId: number): string => `SELECT t.key, p.amount::int8 AS amount,
  ARRAY(SELECT i.amount::int8 FROM settlement_items i WHERE i.tx_id = t.tx_id AND i.type = 'FUNDING') AS items
  FROM ledger_transactions t JOIN postings p ON p.tx_id = t.tx_id AND p.client_id = t.client_id
  WHERE t.type = 'FUNDING' AND t.client_id = ${clientId} ORDER BY t.key`

const minor = (usdc: string): bigint => BigInt(new MoneyDecimal(usdc).mul(1_000_000).toFixed(0))

/** The postings of one stamp: its own, and corrections for trades that were found later. */
interface Stamped {
  own: number
  amount: bigint
}

export const fundingBooks = ({ query, accountOf, venue }: Pick<TradeWorld, "query" | "accountOf" | "venue">) => {
  /** The micro-USDC that the venue has moved, by the key of the stamp. */
  const venueOf = async (trader: Trader): Promise<ReadonlyMap<string, bigint>> => {
    const { events } = (await venue.client().ask(`/venue/v1/accounts/${await accountOf(trader)}/events?after=0`)).json
    const paid = new Map<string, bigint>()
    for (const { fact } of events as ReadonlyArray<VenueEvent>) {
      if (fact.type !== "funding" || fact.funding.amount === null) continue
      const { symbol, settledAt, amount } = fact.funding
      const key = `funding:${symbol}:${settledAt}:${trader.id}`
      assert.isFalse(paid.has(key), `${key} is priced twice at the venue`)
      paid.set(key, minor(amount))
    }
    return new Map([...paid].filter(([, amount]) => amount !== 0n))
  }

  /** The ledger's amounts, corrections included; under PARTNER custody each posting has its one item. */
  const ledgerOf = async (trader: Trader, about: string): Promise<ReadonlyMap<string, bigint>> => {
    const stamps = new Map<string, Stamped>()
    for (const { key, amount, items } of await query<Posted>(postedOf(trader.id))) {
      assert.deepStrictEqual(items.map(BigInt), [BigInt(amount)], `the item of ${key}, ${about}`)
      const [base = key] = /^funding:[^:]+:\d+:\d+/.exec(key) ?? []
      const stamp = stamps.get(base) ?? { own: 0, amount: 0n }
      stamps.set(base, { own: stamp.own + (key === base ? 1 : 0), amount: stamp.amount + BigInt(amount) })
    }
    for (const [key, { own }] of stamps) assert.isAtMost(own, 1, `${key}, ${about}`)
    return new Map([...stamps].map(([key, { amount }]) => [key, amount]))
  }

  return {
    venueOf,
    /** Checks that ledger and venue agree on each stamp. */
    agree: async (trader: Trader, about: string): Promise<void> => {
      const [theirs, ours] = [await venueOf(trader), await ledgerOf(trader, about)]
      const settled = new Map([...ours].filter(([, amount]) => amount !== 0n))
      assert.deepStrictEqual([...settled].toSorted(), [...theirs].toSorted(), about)
    }
  }
}
