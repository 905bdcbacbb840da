/**
 * Each account's balances in the venue's own books, so that the service can be compared with them at any step. Every movement
 * has a payer and a receiver, so an asset's balances sum to zero. Amounts are minor units (C1, Ledger check; A2-103).
 */
import type { VenueMoneyKind } from "../../../src/machines/venue/venueObjects.ts"

/** Kinds of movements. Trades and fees are absent, because positions keep them. */
export type BalanceKind = Exclude<VenueMoneyKind, "trades" | "fees">

/** Balances by account id, then by asset and kind. States from before kinds were kept lack the kind. */
export type BalancesState = ReadonlyArray<
  readonly [accountId: number, asset: string, amount: string, kind?: BalanceKind]
>

export interface Balance {
  readonly asset: string
  readonly kind: BalanceKind
  readonly amount: bigint
}

interface Held {
  readonly asset: string
  /** The kind; null in balances from before kinds were kept. */
  readonly kind: BalanceKind | null
  amount: bigint
}

export class Balances {
  private readonly held = new Map<number, Map<string, Held>>()

  constructor(state: BalancesState = []) {
    for (const [accountId, asset, amount, kind = null] of state) this.book(accountId, kind, asset, BigInt(amount))
  }

  /** Moves an amount from one account to another; a negative amount moves in the opposite direction. */
  move(kind: BalanceKind, from: number, to: number, asset: string, amount: bigint): void {
    this.book(from, kind, asset, -amount)
    this.book(to, kind, asset, amount)
  }

  /** Balances of an account by asset, summed over all kinds; minor units. */
  of(accountId: number): ReadonlyMap<string, bigint> {
    const sums = new Map<string, bigint>()
    for (const { asset, amount } of this.held.get(accountId)?.values() ?? [])
      sums.set(asset, (sums.get(asset) ?? 0n) + amount)
    return sums
  }

  /** Balances of an account by kind. Null if a state from before kinds were kept is part of them. */
  byKind(accountId: number): ReadonlyArray<Balance> | null {
    const found: Array<Balance> = []
    for (const { asset, kind, amount } of this.held.get(accountId)?.values() ?? []) {
      if (kind === null) return null
      found.push({ asset, kind, amount })
    }
    return found
  }

  state(): BalancesState {
    return [...this.held].flatMap(([accountId, held]) =>
      [...held.values()].map(({ asset, kind, amount }) =>
        kind === null
          ? ([accountId, asset, String(amount)] as const)
          : ([accountId, asset, String(amount), kind] as const)
      )
    )
  }

  private book(accountId: number, kind: BalanceKind | null, asset: string, amount: bigint): void {
    const held = this.held.get(accountId) ?? new Map<string, Held>()
    this.held.set(accountId, held)
    const name = `${asset} ${kind ?? ""}`
    const before = held.get(name)
    if (before === undefined) held.set(name, { asset, kind, amount })
    else before.amount += amount
  }
}
