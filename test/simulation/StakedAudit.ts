/**
 * Checks the staked part of an account (F23, STS-10, STS-12). An answer shows the unreturned principal of open swaps
 * and the claims of defaulted swaps, each swap in one of the two, as committed at some moment of the read.
 */
import type { BalancesWire } from "../../src/machines/account/AccountWire.ts"
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { SwapRow } from "../../src/runtime/tables/swap.ts"
import { minor } from "./CommitAudit.ts"
import type { Findings } from "./Findings.ts"

interface Version {
  /** The time from which the figures hold, Unix ms. */
  readonly at: number
  readonly staked: bigint
  readonly claims: bigint
}

export class StakedAudit {
  private readonly findings: Findings
  private readonly swaps = new Map<number, SwapRow>()
  /** By client, oldest first. */
  private readonly versions = new Map<number, Array<Version>>()

  constructor(findings: Findings) {
    this.findings = findings
  }

  take({ rows }: Commit, now: number): void {
    for (const row of rows.swaps ?? []) this.swaps.set(row.id, row)
    for (const clientId of new Set((rows.swaps ?? []).map((row) => row.clientId))) {
      const own = [...this.swaps.values()].filter((row) => row.clientId === clientId)
      const sum = (figures: ReadonlyArray<bigint>): bigint => figures.reduce((total, figure) => total + figure, 0n)
      const version = { at: now, staked: sum(own.map(stakedOf)), claims: sum(own.map(claimOf)) }
      this.versions.set(clientId, [...(this.versions.get(clientId) ?? []), version])
    }
  }

  /** Checks the figures of an answer to a read between `from` and `to`. The simulated clients lend USDC alone. */
  checkShown(clientId: number, { balances }: BalancesWire, from: number, to: number): void {
    const line = balances.find(({ currency }) => currency === "USDC")
    const shown = { staked: minor(line?.staked ?? "0"), claims: minor(line?.swapClaims ?? "0") }
    const all = [{ at: 0, staked: 0n, claims: 0n }, ...(this.versions.get(clientId) ?? [])]
    const wasSo = all.some(({ at, staked, claims }, index) => {
      const end = all[index + 1]?.at ?? Number.POSITIVE_INFINITY
      return staked === shown.staked && claims === shown.claims && at <= to && end >= from
    })
    const last = all.at(-1)
    this.findings.expect(
      wasSo,
      "totals",
      () =>
        `client ${clientId} is shown ${shown.staked} staked and ${shown.claims} claimed, which are ${last?.staked} and ${last?.claims}`
    )
  }
}

const stakedOf = ({ state, amount, paid }: SwapRow): bigint => (state === "OPEN" && paid < amount ? amount - paid : 0n)

const claimOf = ({ state, amount, reward, paid, writtenOff }: SwapRow): bigint => {
  const left = amount + reward - paid - writtenOff
  return state === "DEFAULTED" && left > 0n ? left : 0n
}
