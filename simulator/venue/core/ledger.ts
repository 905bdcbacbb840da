/** The venue's own books by account (C1, Ledger check). */
import { moneyDecimals, textOf } from "./texts.ts"
import type { VenueParts } from "./VenueParts.ts"

export interface LedgerAccount {
  /** A client's name, or a house account. */
  readonly account: string
  /** `flow`: USDC received less paid for the quantity, without fees. */
  readonly positions: ReadonlyArray<{ readonly symbol: string; readonly netQty: string; readonly flow: string }>
  /** Balances of funding, contracts and swaps, by asset. */
  readonly balances: ReadonlyArray<{ readonly asset: string; readonly amount: string }>
}

export const ledgerOf = (parts: VenueParts): ReadonlyArray<LedgerAccount> => {
  const scales = new Map([...parts.staking.markets.values()].map(({ asset, scale }) => [asset, scale] as const))
  return [...parts.exchange.accounts.values()].map(({ id, name, positions }) => ({
    account: name,
    positions: [...positions].map(([symbol, { lots, flow }]) => ({
      symbol,
      netQty: textOf(lots, parts.listing(symbol).market.lotDecimals),
      flow: textOf(flow, moneyDecimals)
    })),
    balances: [...parts.balances.of(id)].map(([asset, amount]) => ({
      asset,
      amount: textOf(amount, scales.get(asset) ?? moneyDecimals)
    }))
  }))
}
