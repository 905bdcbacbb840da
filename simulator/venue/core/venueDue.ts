/** The work of clients' accounts that the books do at known times: funding, maturities of swaps, expiries of contracts. */
import type { VenueDue } from "../../../src/venue/VenueCommand.ts"
import { fundingIntervalMillis, nextStamp } from "./Funding.ts"
import type { VenueParts } from "./VenueParts.ts"

/** The most items of a list. */
const mostDue = 100

/** The due work by time, market and kind, earliest first; at most 100 items. The house's own positions are left out. */
export const venueDue = (parts: VenueParts): ReadonlyArray<VenueDue> => {
  const found = new Map<string, VenueDue>()
  const add = (due: Omit<VenueDue, "count">): void => {
    const key = `${due.at} ${due.symbol} ${due.name}`
    found.set(key, { ...due, count: (found.get(key)?.count ?? 0) + 1 })
  }
  const stamp = nextStamp(parts.clock.now)
  for (const account of parts.exchange.accounts.values()) {
    if (account.id < 0) continue
    for (const [symbol, { lots }] of account.positions) {
      if (lots === 0 || !parts.funding.has(symbol) || parts.listing(symbol).delisted) continue
      add({ name: "funding", symbol, at: stamp, everyMillis: fundingIntervalMillis })
    }
    for (const { symbol, expiryAt } of account.contracts) {
      add({ name: "expiry", symbol, at: expiryAt, everyMillis: null })
    }
  }
  for (const { at, due } of parts.agenda.state()) {
    if (due.type !== "maturity" && due.type !== "payment") continue
    const swap = parts.staking.swaps.get(due.swapId)
    if (swap === undefined || swap.end !== null) continue
    add({ name: due.type, symbol: swap.symbol, at, everyMillis: null })
  }
  return [...found.values()].toSorted((one, other) => one.at - other.at).slice(0, mostDue)
}
