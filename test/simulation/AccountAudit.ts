/**
 * Checks an account's figures in a simulation with its own sums (F23, STS-9 to STS-11): at each commit the stored
 * totals equal the sums over trades, contracts and swaps, a posting in another currency keeps its value in USDC, and
 * the figures of an answer add up.
 */
import type { BalancesWire } from "../../src/machines/account/AccountWire.ts"
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { AccountTotalsRow } from "../../src/runtime/tables/account.ts"
import type { SwapRow } from "../../src/runtime/tables/swap.ts"
import { minor } from "./CommitAudit.ts"
import type { Findings } from "./Findings.ts"
import { units } from "./OrderAudit.ts"

type Figure = Exclude<keyof AccountTotalsRow, "clientId" | "partnerId">
type Sums = Record<Figure, bigint>

const none = (): Sums => ({
  fills: 0n,
  fillsPnl: 0n,
  spotPnl: 0n,
  barrierPnl: 0n,
  stakingPnl: 0n,
  fillsCommission: 0n,
  barrierCommission: 0n,
  stakingCommission: 0n,
  contracts: 0n,
  swapTakes: 0n,
  wins: 0n,
  losses: 0n,
  perpFlow: 0n
})

/** Micro-USDC in one USDC, and hundredths in one unit of a mark. */
const [million, hundred] = [1_000_000n, 100n]
/** Decimal places of the minor unit. */
const scales: Readonly<Record<string, number>> = { BTC: 8, ETH: 8, SOL: 9, BNB: 8, XRP: 6, EUR: 2, USD1: 6 }

export class AccountAudit {
  private readonly findings: Findings
  private readonly sums = new Map<number, Sums>()
  private readonly swaps = new Map<number, SwapRow>()
  private readonly contracts = new Map<number, { readonly ended: boolean }>()

  constructor(findings: Findings) {
    this.findings = findings
  }

  take({ rows }: Commit): void {
    const moved = new Set<number>()
    const add = (clientId: number, figures: Partial<Sums>): void => {
      const sums = this.sums.get(clientId) ?? none()
      for (const [name, more] of Object.entries(figures)) {
        sums[name as Figure] += more
        if (more !== 0n) moved.add(clientId)
      }
      this.sums.set(clientId, sums)
    }
    for (const { clientId, family, side, notional, commission, realizedPnl } of rows.fills ?? []) {
      const isPerp = family === "PERP"
      add(clientId, {
        fills: 1n,
        fillsCommission: commission,
        ...(isPerp ? { fillsPnl: realizedPnl } : { spotPnl: realizedPnl }),
        ...(isPerp ? { perpFlow: side === "SELL" ? notional : -notional } : {}),
        ...outcome(realizedPnl)
      })
    }
    for (const { id, clientId, commission, state, pnl } of rows.barrierContracts ?? []) {
      const before = this.contracts.get(id)
      if (before === undefined) add(clientId, { contracts: 1n, barrierCommission: commission })
      const ended = state !== "OPEN"
      if (ended && before?.ended !== true) add(clientId, { barrierPnl: pnl ?? 0n, ...outcome(pnl ?? 0n) })
      this.contracts.set(id, { ended })
    }
    for (const row of rows.swaps ?? []) {
      const before = this.swaps.get(row.id) ?? null
      if (row.openedAt !== null && before?.openedAt == null) add(row.clientId, { swapTakes: 1n })
      const [had, has] = [before === null ? 0n : closedResult(before), closedResult(row)]
      if (had !== has) add(row.clientId, difference(outcome(had), outcome(has)))
      this.swaps.set(row.id, row)
    }
    for (const [clientId, figures] of stakingOf(rows)) add(clientId, figures)
    const kept = new Map((rows.accountTotals ?? []).map((row) => [row.clientId, row]))
    for (const clientId of new Set([...moved, ...kept.keys()])) this.compare(clientId, kept.get(clientId))
    this.checkValues(rows)
  }

  private compare(clientId: number, kept: AccountTotalsRow | undefined): void {
    const should = this.sums.get(clientId) ?? none()
    const apart = (Object.keys(should) as Array<Figure>).filter(
      (name) => kept === undefined || BigInt(kept[name]) !== should[name]
    )
    this.findings.expect(
      apart.length === 0,
      "totals",
      () =>
        `client ${clientId}: ${apart.map((name) => `${name} is ${kept?.[name] ?? "not kept"}, not ${should[name]}`).join(", ")}`
    )
  }

  /** The stored value of a posting is its amount at the mark stored with it, rounded down (STS-9). */
  private checkValues({ ledgerTransactions = [], postings = [] }: Commit["rows"]): void {
    const transactions = new Map(ledgerTransactions.map((row) => [row.txId, row]))
    const seen = new Set<number>()
    for (const { txId, clientId, currency, amount } of postings) {
      const scale = scales[currency]
      if (clientId === null || scale === undefined || seen.has(txId)) continue
      seen.add(txId)
      const { refs, key } = transactions.get(txId) ?? { refs: {}, key: `transaction ${txId}` }
      const { mark, valueUsdc } = refs as { readonly mark?: string | null; readonly valueUsdc?: string | null }
      const should =
        typeof mark === "string" ? floorTo(amount * units(mark, 2) * million, hundred * 10n ** BigInt(scale)) : null
      const is = typeof valueUsdc === "string" ? minor(valueUsdc) : (valueUsdc ?? undefined)
      this.findings.expect(
        mark !== undefined && is === (should ?? undefined),
        "totals",
        () => `${key} keeps ${valueUsdc} at ${mark} of ${amount} ${currency}`
      )
    }
  }

  /** The totals of an answer equal the sums of their parts, and its lines equal the parts. */
  checkShown(clientId: number, { balances, portfolioValue, portfolio }: BalancesWire): void {
    const { cashTotal, reserved, holdingsValue, stakedValue, unrealizedPnl, claimsValue } = portfolio
    const parts = [cashTotal, reserved, holdingsValue, stakedValue, unrealizedPnl].map(minor)
    const sum = (figures: ReadonlyArray<string | null>) =>
      figures.reduce((total, figure) => total + (figure === null ? 0n : minor(figure)), 0n)
    const others = balances.filter(({ currency }) => currency !== "USDC")
    const isWhole =
      minor(portfolioValue) === parts.reduce((total, part) => total + part, 0n) &&
      minor(holdingsValue) === sum(others.map(({ value }) => value)) &&
      minor(stakedValue) === sum(balances.map((line) => line.stakedValue)) &&
      minor(claimsValue) === sum(balances.map((line) => line.claimsValue))
    this.findings.expect(
      isWhole,
      "totals",
      () => `client ${clientId} is shown ${portfolioValue} of ${JSON.stringify(portfolio)}`
    )
  }
}

/** The money returned by a closed swap less its notional; 0 while a payment of the swap is expected. */
const closedResult = ({ closedAt, paid, amount }: SwapRow): bigint => (closedAt === null ? 0n : paid - amount)

const difference = (before: Partial<Sums>, after: Partial<Sums>): Partial<Sums> => ({
  wins: (after.wins ?? 0n) - (before.wins ?? 0n),
  losses: (after.losses ?? 0n) - (before.losses ?? 0n)
})

/** The rewards in a commit's postings and the charges on them, each valued at its stored mark. */
const stakingOf = ({ ledgerTransactions = [], postings = [] }: Commit["rows"]) => {
  const ofClients = new Map(postings.flatMap((row) => (row.clientId === null ? [] : [[row.txId, row] as const])))
  return ledgerTransactions.flatMap(({ txId, type, refs }): ReadonlyArray<readonly [number, Partial<Sums>]> => {
    const posting = ofClients.get(txId)
    if (posting === undefined || posting.clientId === null || !("swapId" in refs)) return []
    const { currency, amount, clientId } = posting
    const scale = scales[currency] ?? 6
    const mark = currency === "USDC" ? "1" : refs["mark"]
    const valued = (minorUnits: bigint): bigint =>
      typeof mark === "string" ? floorTo(minorUnits * units(mark, 2) * million, hundred * 10n ** BigInt(scale)) : 0n
    if (type === "SWAP_SETTLE") return [[clientId, { stakingPnl: valued(units(String(refs["reward"]), scale)) }]]
    return type === "COMMISSION" ? [[clientId, { stakingCommission: -valued(amount) }]] : []
  })
}

const outcome = (result: bigint): Partial<Sums> => (result === 0n ? {} : result > 0n ? { wins: 1n } : { losses: 1n })

const floorTo = (figure: bigint, unit: bigint): bigint => {
  const whole = figure / unit
  return figure % unit < 0n ? whole - 1n : whole
}
