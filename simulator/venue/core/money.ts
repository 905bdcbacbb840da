/**
 * An account's money as the venue's own books have it (A2-103): what came less what went since it was opened, by asset and by
 * what it came of. A trade counts with all of its value, so an open perpetual has gone with what it cost: what is realized is
 * nobody's here, because it hangs on the order in which trades are booked, and the sum does not. This venue charges no fees
 * of trades.
 */
import type { VenueMoney } from "../../../src/machines/venue/venueObjects.ts"
import type { Account } from "./Account.ts"
import { moneyDecimals, textOf } from "./texts.ts"
import type { VenueParts } from "./VenueParts.ts"

/** Null: a part of it is of a time when the venue did not keep what money came of. */
export const moneyOf = (parts: VenueParts, account: Account): ReadonlyArray<VenueMoney> | null => {
  const balances = parts.balances.byKind(account.id)
  if (balances === null) return null
  const scales = new Map([...parts.staking.markets.values()].map(({ asset, scale }) => [asset, scale] as const))
  return [
    ...tradesOf(parts, account),
    ...balances.map(({ kind, asset, amount }) => ({
      kind,
      asset,
      amount: textOf(amount, scales.get(asset) ?? moneyDecimals)
    }))
  ].filter(({ amount }) => amount !== "0")
}

/** Every market is paid in USDC, and on SPOT the asset itself changes hands besides. */
const tradesOf = (parts: VenueParts, { positions }: Account): ReadonlyArray<VenueMoney> => {
  let paid = 0n
  const assets: Array<VenueMoney> = []
  for (const [symbol, { lots, flow }] of positions) {
    const { market } = parts.listing(symbol)
    paid += flow
    if (market.family === "SPOT")
      assets.push({ kind: "trades", asset: market.base, amount: textOf(lots, market.lotDecimals) })
  }
  return [{ kind: "trades", asset: "USDC", amount: textOf(paid, moneyDecimals) }, ...assets]
}
