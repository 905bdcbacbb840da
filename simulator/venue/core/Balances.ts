/**
 * What the venue's own books say every account has, so that the service can be compared with them at any step (C1, Ledger
 * check; A2-103). Whatever one account gets another pays, so an asset's balances are zero together. Amounts are minor units.
 */
import type { VenueMoneyKind } from "../../../src/machines/venue/venueObjects.ts"

/** What moves balances; trades are kept with their positions. */
export type BalanceKind = Exclude<VenueMoneyKind, "trades" | "fees">

/** By account id, then by asset and kind. The kind is not there: of a time when kinds were not kept. */
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
  /** Null: of a time when kinds were not kept. */
  readonly kind: BalanceKind | null
  amount: bigint
}

export class Balances {
  private readonly held = new Map<number, Map<string, Held>>()

  constructor(state: BalancesState = []) {
    for (const [accountId, asset, amount, kind = null] of state) this.book(accountId, kind, asset, BigInt(amount))
  }

  /** `to` gets an amount of `from`; a negative one goes the other way. */
  move(kind: BalanceKind, from: number, to: number, asset: string, amount: bigint): void {
    this.book(from, kind, asset, -amount)
    this.book(to, kind, asset, amount)
  }

  /** By asset, whatever they are of. */
  of(accountId: number): ReadonlyMap<string, bigint> {
    const sums = new Map<string, bigint>()
    for (const { asset, amount } of this.held.get(accountId)?.values() ?? [])
      sums.set(asset, (sums.get(asset) ?? 0n) + amount)
    return sums
  }

  /** By what they are of; null where a part of them is older than that is kept. */
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
