/**
 * An account's money in the venue's own books: received less paid since its opening, by asset and source. A trade counts with
 * its whole value, so an open perpetual has cost its price. Realized profit is not kept here, because it depends on the booking
 * order of trades; the sum does not. This venue charges no trading fees (A2-103).
 */
import type { VenueMoney } from "../../../src/machines/venue/venueObjects.ts"
import type { Account } from "./Account.ts"
import { moneyDecimals, textOf } from "./texts.ts"
import type { VenueParts } from "./VenueParts.ts"

/** An account's money by kind and asset; null: a part of the money is from before kinds were kept. */
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

/** Every market settles in USDC; on SPOT the asset changes hands too. */
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
