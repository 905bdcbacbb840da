/**
 * What the venue's own books say every account has, so that the service can be compared with them at any step (C1, Ledger
 * check). Whatever one account gets another pays, so an asset's balances are zero together. Amounts are minor units.
 */

/** By account id, then by asset. */
export type BalancesState = ReadonlyArray<readonly [accountId: number, asset: string, amount: string]>

export class Balances {
  private readonly held = new Map<number, Map<string, bigint>>()

  constructor(state: BalancesState = []) {
    for (const [accountId, asset, amount] of state) this.book(accountId, asset, BigInt(amount))
  }

  /** `to` gets an amount of `from`; a negative one goes the other way. */
  move(from: number, to: number, asset: string, amount: bigint): void {
    this.book(from, asset, -amount)
    this.book(to, asset, amount)
  }

  of(accountId: number): ReadonlyMap<string, bigint> {
    return this.held.get(accountId) ?? new Map()
  }

  state(): BalancesState {
    return [...this.held].flatMap(([accountId, assets]) =>
      [...assets].map(([asset, amount]) => [accountId, asset, String(amount)] as const)
    )
  }

  private book(accountId: number, asset: string, amount: bigint): void {
    const assets = this.held.get(accountId) ?? new Map<string, bigint>()
    this.held.set(accountId, assets)
    assets.set(asset, (assets.get(asset) ?? 0n) + amount)
  }
}
