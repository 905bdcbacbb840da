/**
 * COSTS statement: commissions by family, net funding, and the spread at the opening of contracts, with turnover, mean
 * equity of the account, and its return before and after costs (A2-70, STS-24).
 */
import { Effect } from "effect"
import { MoneyDecimal, ceilToMinor, usdcMinor } from "../../../../machines/shared/Money.ts"
import {
  type CostBase,
  type CostFamily,
  costFacts,
  type CostRow,
  costRows,
  daysText,
  meanOf
} from "../../../../machines/statement/statementCosts.ts"
import { daysOf } from "../../../../machines/statement/statementJobs.ts"
import { startOfDay } from "../../../../machines/statement/statementPeriod.ts"
import { equitiesCovered, keptEquities } from "../../../store/reads/dailyEquityReads.ts"
import { costSums, type CostSum, equityMoves, marksOfDays } from "../../../store/reads/statementCosts.ts"
import type { Cut } from "../../../../machines/statement/StatementModel.ts"
import { contractsOf, type StatementContract } from "../../../store/reads/statementContracts.ts"
import { cutOffBefore, fillSums } from "../../../store/reads/statementReads.ts"
import { takeSums } from "../../../store/reads/statementSwaps.ts"
import { AccountReplay } from "./AccountReplay.ts"
import {
  type Building,
  eachPage,
  eachStretch,
  fillsOfPeriod,
  pageRows,
  type Plan,
  postingsOfPeriod,
  type Reading,
  reading,
  type Wrong
} from "./Building.ts"

const notes = [
  "An itemised breakdown is this statement's rows.",
  "Amounts are USDC; a positive amount was paid by the client. Funding received is negative.",
  "Average equity is the mean of the equities at 00:00 UTC of the period's days since the account was opened.",
  "A position or contract that had no market price at a midnight counts nothing in the equity of that midnight.",
  "Returns are of what counts as equity; netDeposits is all that came into it less what left it, reserves, assets and swaps with it.",
  "Ancillary services were not charged. The firm neither paid third parties nor was paid by them for its services."
]

const notWhollyValued = (days: ReadonlyArray<number>): string =>
  `Equities are not wholly valued: there were positions or contracts without a market price at 00:00 UTC of ${daysText(days)}.`

const dayMillis = 86_400_000

export const planCosts = (at: Building): Effect.Effect<Plan, Wrong> =>
  Effect.gen(function* () {
    const sums = yield* sumsOf(at)
    const opened = yield* contractsOpened(at)
    const lent = yield* swapsTaken(at)
    const rows = costsOf(sums, opened.spread, lent.fees)
    const { base, unvaluedDays } = yield* baseOf(at, opened.turnover + lent.notional)
    const isCharged = sums.every(({ unvalued }) => unvalued === 0)
    return {
      sections: [
        {
          facts: costFacts(rows, base),
          rows: (emit) => emit(costRows(rows, base))
        }
      ],
      notes: [
        ...notes,
        ...(isCharged ? [] : ["Charges in an asset without a known value are counted as zero."]),
        ...(unvaluedDays.length === 0 ? [] : [notWhollyValued(unvaluedDays)])
      ],
      rows: rows.length
    }
  })

const sumsOf = (at: Building): Reading<ReadonlyArray<CostSum>> =>
  Effect.gen(function* () {
    const found: Array<CostSum> = []
    yield* eachStretch(at, postingsOfPeriod(at), (stretch) =>
      Effect.map(reading(costSums(at.sql, at.client.clientId, stretch)), (sums) => void found.push(...sums))
    )
    return found
  })

/** The sum of a type and a family, from the client's view. */
const of = (sums: ReadonlyArray<CostSum>, type: string, family: CostFamily): bigint =>
  sums.reduce((total, sum) => (sum.type === type && sum.family === family ? total + sum.usdc : total), 0n)

const costsOf = (sums: ReadonlyArray<CostSum>, spread: bigint, takerFees: bigint): ReadonlyArray<CostRow> => {
  const row = (
    category: CostRow["category"],
    family: CostRow["family"],
    description: string,
    amount: bigint
  ): CostRow => ({
    category,
    family,
    description,
    amount
  })
  return [
    row("TRANSACTION", "PERP", "Commission on trades of perpetuals", -of(sums, "COMMISSION", "PERP")),
    row("TRANSACTION", "SPOT", "Commission on spot trades", -of(sums, "COMMISSION", "SPOT")),
    row(
      "TRANSACTION",
      "BARRIER",
      "Commission at the opening of knock-out contracts",
      -of(sums, "COMMISSION", "BARRIER")
    ),
    row("TRANSACTION", "STAKING", "The service's share of staking rewards", -of(sums, "COMMISSION", "STAKING")),
    row("TRANSACTION", "STAKING", "Venue fees of staking swaps", takerFees - of(sums, "SWAP_FEE_ADJUST", "STAKING")),
    row("PRODUCT", "PERP", "Net funding paid on perpetuals", -of(sums, "FUNDING", "PERP")),
    row("PRODUCT", "BARRIER", "Spread at the opening of knock-out contracts", spread),
    row("THIRD_PARTY", "ALL", "Payments received from third parties", 0n)
  ]
}

/**
 * The spread of a contract, dir x qty x (entry - mark at request), rounded up; zero unless the client paid it (A2-70,
 * F1).
 */
const spreadOf = ({ context: { side, qty, entry }, markAtRequest }: StatementContract): bigint => {
  if (markAtRequest === null) return 0n
  const paid = new MoneyDecimal(entry).minus(markAtRequest).mul(side === "BUY" ? qty : `-${qty}`)
  return paid.isPositive() ? ceilToMinor(paid, "USDC") : 0n
}

const contractsOpened = ({ sql, client, start, cut }: Building) =>
  Effect.gen(function* () {
    let spread = 0n
    let turnover = 0n
    yield* eachPage(
      pageRows,
      (after) => reading(contractsOf(sql, client.clientId, { after, to: cut.contractId }, pageRows)),
      ({ id }) => id,
      (contracts) =>
        Effect.sync(() => {
          for (const contract of contracts) {
            spread += spreadOf(contract)
            turnover += usdcMinor(contract.context.notional)
          }
        }),
      start.contractId
    )
    return { spread, turnover }
  })

const swapsTaken = (at: Building) =>
  Effect.gen(function* () {
    let [notional, fees] = [0n, 0n]
    yield* eachStretch(at, postingsOfPeriod(at), (stretch) =>
      Effect.map(reading(takeSums(at.sql, at.client.clientId, stretch)), (sums) => {
        notional += sums.notional
        fees += sums.fees
      })
    )
    return { notional, fees }
  })

interface BaseFound {
  readonly base: CostBase
  /** The midnights at which a holding had no mark, Unix ms, ascending. */
  readonly unvaluedDays: ReadonlyArray<number>
}

const baseOf = (at: Building, otherTurnover: bigint): Reading<BaseFound> =>
  Effect.gen(function* () {
    const fills = yield* reading(fillSums(at.sql, at.client.clientId, fillsOfPeriod(at)))
    const traded = fills.reduce((sum, { currency, notional }) => (currency === "USDC" ? sum + notional : sum), 0n)
    const { daily, start, end, unvaluedDays } = yield* equitiesOf(at)
    let netDeposits = 0n
    yield* eachStretch(at, postingsOfPeriod(at), (stretch) =>
      Effect.map(reading(equityMoves(at.sql, at.client.clientId, stretch)), (moved) => {
        netDeposits += moved
      })
    )
    const base = {
      turnover: traded + otherTurnover,
      averageEquity: meanOf(daily),
      startEquity: start,
      endEquity: end,
      netDeposits,
      holdingsValued: unvaluedDays.length === 0
    }
    return { base, unvaluedDays }
  })

interface Equities {
  /** The equities at 00:00 UTC of each of the period's days since the account was opened (STS-28). */
  readonly daily: ReadonlyArray<bigint>
  /**
   * The equities at the start and the end of the period. Each is valued at the marks of the last midnight not after it.
   * Zero before the account was opened.
   */
  readonly start: bigint
  readonly end: bigint
  readonly unvaluedDays: BaseFound["unvaluedDays"]
}

/**
 * The equities of the period: stored ones if there are any. Moments before the first stored equity, and between two of
 * them, are replayed by the replay that also proves stored equities.
 */
const equitiesOf = (at: Building): Reading<Equities> =>
  Effect.gen(function* () {
    const { sql, client, period, start, cut } = at
    const days = midnightsOf(Math.max(period.from, client.createdAt), period.to)
    const isCovered = yield* keptOf(at)
    const kept = yield* reading(keptEquities(sql, client.clientId, [period.from, ...days, period.to].filter(isCovered)))
    // Equities that were stored before unvalued holdings were counted are replayed to count them.
    const isKept = (moment: number): boolean => isCovered(moment) && kept.get(moment)?.unvalued !== null
    const unvaluedDays = new Set<number>()
    const replay = new AccountReplay(at)
    const needsMarks = ![period.from, ...days, period.to].every(isKept)
    const marks = needsMarks ? yield* reading(marksOfDays(sql, startOfDay(period.from), period.to)) : new Map()
    const equityAt = (moment: number, before: Reading<Cut>): Reading<bigint> =>
      Effect.gen(function* () {
        if (!isKept(moment)) yield* replay.advance(yield* before)
        // A day that a job covered but that has no row had no holdings.
        const then = isKept(moment)
          ? kept.get(moment)
          : replay.equityAt(marks.get(startOfDay(moment)) ?? new Map<string, string>())
        if ((then?.unvalued ?? 0) > 0) unvaluedDays.add(startOfDay(moment))
        return then?.equity ?? 0n
      })
    const first = yield* equityAt(period.from, Effect.succeed(start))
    const daily: Array<bigint> = []
    for (const day of days) daily.push(yield* equityAt(day, reading(cutOffBefore(sql, client.clientId, day))))
    const end = yield* equityAt(period.to, Effect.succeed(cut))
    return { daily, start: first, end, unvaluedDays: [...unvaluedDays].toSorted((one, other) => one - other) }
  })

/** A test whether the equity of a moment is stored, which is true only for midnights. */
const keptOf = ({ sql, client, period }: Building): Reading<(moment: number) => boolean> =>
  Effect.map(
    reading(equitiesCovered(sql, client.clientId, startOfDay(period.from), period.to)),
    (covered) => (moment) =>
      startOfDay(moment) === moment && covered.some(({ from, to }) => moment >= from && moment <= to)
  )

/** 00:00 UTC of each day, from the first at or after `from` to the last before `to`. */
const midnightsOf = (from: number, to: number): ReadonlyArray<number> => {
  const first = startOfDay(from) === from ? from : startOfDay(from) + dayMillis
  return first < to ? daysOf({ from: first, to: startOfDay(to - 1) }) : []
}
