/**
 * TAX statement: proceeds and costs of disposed assets lot by lot, results of perpetuals and contracts, staking and
 * funding, and totals. For British residencies lots are matched in HMRC's order, for others first in, first out.
 * Amounts are USDC (A2-72, A2-83, F21, STS-26).
 */
import { Effect } from "effect"
import { currencyCodes } from "../../../../machines/shared/Currency.ts"
import { formatAmount } from "../../../../machines/shared/Money.ts"
import { londonDayOf } from "../../../../machines/statement/londonDay.ts"
import type { Cut, ModelRow, SectionFacts } from "../../../../machines/statement/StatementModel.ts"
import type { Period } from "../../../../machines/statement/statementPeriod.ts"
import { type AssetMove, fifoSlices, hmrcSlices, type TaxSlice } from "../../../../machines/statement/taxLots.ts"
import { isPartOfYear } from "../../../../machines/statement/taxYears.ts"
import { texts } from "../../../store/arrays.ts"
import { contractsByIds } from "../../../store/reads/statementContracts.ts"
import { fillsOf, postingsOfTypes, type StatementPosting } from "../../../store/reads/statementReads.ts"
import { costSums, type CostSum } from "../../../store/reads/statementCosts.ts"
import { swapsWrittenOff } from "../../../store/reads/statementSwaps.ts"
import {
  type Building,
  eachPage,
  eachStretch,
  pageRows,
  type Plan,
  postingsOfPeriod,
  reading,
  type Wrong
} from "./Building.ts"
import type { Emit, PlannedSection } from "./ModelWriter.ts"
import { movesUpTo } from "./taxMoves.ts"
import { chargeOf, isValued, partOf, swapOf, worthOf } from "./swapPostings.ts"
import { contractOf } from "./venueTimes.ts"

/** Terms of a tax statement that its period does not give. */
export interface TaxTerms {
  readonly isBritish: boolean
  /**
   * Where the search for matching acquisitions ends. British: 30 days after the period, because later acquisitions match
   * its disposals. Otherwise: the end of the period.
   */
  readonly behind: Cut
  /** True once the 30 days after the period are over, so that no disposal is provisional. */
  readonly isComplete: boolean
}

/** London days after a disposal within which an acquisition still matches it. */
const matchedDays = 30

const usdc = (minor: bigint): string => formatAmount(minor, "USDC")

const notes = (period: Period, { isBritish }: TaxTerms, rows: ReadonlyArray<ModelRow>): ReadonlyArray<string> => [
  "Amounts are USDC and are not converted into another currency.",
  "The cost of an asset that was deposited is its value at the deposit; it is marked assumed.",
  "Assets that left the account were not disposed of by that; they took their cost along.",
  "Assets lent under staking swaps were not disposed of; a reward has cost what it was worth when it was paid.",
  "Of perpetuals and contracts, cost is the commission charged, on the row of what it was charged for, and is not part of the result beside it.",
  isBritish
    ? "Disposals are matched with acquisitions of the same day, then of the next 30 days with the earliest first, then with the section 104 pool; days are London's."
    : "Disposals are matched with the oldest acquisitions first.",
  ...(isPartOfYear(period)
    ? ["It is of a part of a tax year: the tax residency changed, and the statement next to it begins or ends there."]
    : []),
  ...(rows.some(({ provisional }) => provisional === true)
    ? ["Disposals of the last 30 days are provisional: later acquisitions may still be matched with them."]
    : [])
]

export const planTax = (at: Building, terms: TaxTerms): Effect.Effect<Plan, Wrong> =>
  Effect.gen(function* () {
    const slices = yield* slicesOf(at, terms)
    const unvalued = unvaluedIn(slices)
    const disposals = slices.map((slice) => sliceRow(slice, at, terms))
    const sums = yield* sumsOf(at)
    const earned = { rows: 0, reward: 0n, share: 0n }
    yield* eachStaking(at, (rows) => {
      for (const { worth, isShare, lacksValue } of rows) {
        // The same payment may already be in `unvalued`, if it was disposed of in the year. Its missing value is named
        // once.
        if (lacksValue !== null && !unvalued.has(lacksValue.postingId)) unvalued.set(lacksValue.postingId, lacksValue)
        earned.rows++
        earned[isShare ? "share" : "reward"] += worth
      }
      return Effect.void
    })
    const lost = yield* hasWriteOff(at)
    const totals = totalsOf(slices, unvalued.size === 0)
    return {
      sections: [
        plain({ name: "DISPOSALS" }, disposals),
        { facts: { name: "PERPETUALS" }, rows: (emit) => perpetuals(at, emit) },
        { facts: { name: "BARRIERS" }, rows: (emit) => contractRows(at, emit) },
        { facts: { name: "STAKING" }, rows: (emit) => staking(at, emit) },
        { facts: { name: "FUNDING" }, rows: (emit) => funding(at, emit) },
        plain(totals.facts, [
          totals.row,
          totalRow("PERPETUALS", sums, "PNL", "PERP"),
          totalRow("BARRIERS", sums, "BARRIER_SETTLE", "BARRIER"),
          {
            ...emptyRow,
            asset: "STAKING",
            quantity: String(earned.rows),
            proceeds: usdc(earned.reward),
            cost: usdc(earned.share),
            result: usdc(earned.reward - earned.share)
          },
          totalRow("FUNDING", sums, "FUNDING", null)
        ])
      ],
      notes: [
        ...notes(at.period, terms, disposals),
        ...(lost ? [writtenOff] : []),
        ...(unvalued.size === 0 ? [] : [notValued([...unvalued.values()])])
      ],
      rows: slices.length
    }
  })

const plain = (facts: SectionFacts, rows: ReadonlyArray<ModelRow>): PlannedSection<Wrong> => ({
  facts,
  rows: (emit) => emit(rows)
})

/**
 * An amount without a value, because no mark was known when it was booked. It counts as zero and is named in a note
 * (STS-9).
 */
type Unvalued = Pick<AssetMove, "asset" | "at" | "qty">

/** The disposals of the period, each matched with its acquisitions, by asset. */
const slicesOf = (at: Building, { isBritish, behind }: TaxTerms): Effect.Effect<ReadonlyArray<TaxSlice>, Wrong> =>
  Effect.map(movesUpTo(at, isBritish ? behind : at.cut), (byAsset) =>
    currencyCodes.flatMap((asset) => {
      const moves = byAsset.get(asset) ?? []
      const found = isBritish ? hmrcSlices(moves, londonDayOf).slices : fifoSlices(moves)
      return found.filter(({ disposed }) => disposed >= at.period.from && disposed < at.period.to)
    })
  )

/**
 * The unvalued amounts in the costs of these disposals, by posting. Amounts in the costs of other years, and of lots that
 * are still held, do not count.
 */
const unvaluedIn = (slices: ReadonlyArray<TaxSlice>): Map<number, Unvalued> =>
  new Map(
    slices.flatMap((slice) =>
      slice.unvalued.flatMap((move) => (move.unvalued === undefined ? [] : [[move.unvalued, move] as const]))
    )
  )

const sliceRow = (slice: TaxSlice, { period }: Building, { isBritish, isComplete }: TaxTerms): ModelRow => ({
  asset: slice.asset,
  acquired: slice.acquired,
  disposed: slice.disposed,
  quantity: formatAmount(slice.quantity, slice.asset),
  proceeds: usdc(slice.proceeds),
  cost: usdc(slice.cost),
  result: usdc(slice.proceeds - slice.cost),
  method: slice.method,
  assumed: slice.assumed,
  // The rule counts London days. A disposal is provisional if its thirtieth day lies after the period, which is not
  // complete yet.
  provisional: isBritish && !isComplete && londonDayOf(slice.disposed) + matchedDays >= londonDayOf(period.to)
})

const totalsOf = (slices: ReadonlyArray<TaxSlice>, holdingsValued: boolean) => {
  let [proceeds, costs, gains, losses] = [0n, 0n, 0n, 0n]
  for (const slice of slices) {
    const result = slice.proceeds - slice.cost
    proceeds += slice.proceeds
    costs += slice.cost
    if (result > 0n) gains += result
    else losses -= result
  }
  const disposals = new Set(slices.map(({ asset, disposed }) => `${asset}:${disposed}`)).size
  const facts: SectionFacts = {
    name: "TOTALS",
    disposals,
    proceeds: usdc(proceeds),
    costs: usdc(costs),
    gains: usdc(gains),
    losses: usdc(losses),
    // The member is written only if it is false. So a statement in which all holdings have a value keeps its bytes.
    ...(holdingsValued ? {} : { holdingsValued: false })
  }
  const row: ModelRow = {
    ...emptyRow,
    asset: "DISPOSALS",
    quantity: String(disposals),
    proceeds: usdc(proceeds),
    cost: usdc(costs),
    result: usdc(proceeds - costs)
  }
  return { facts, row }
}

const emptyRow = {
  asset: "",
  acquired: null,
  disposed: null,
  quantity: null,
  proceeds: null,
  cost: null,
  result: null,
  method: null
} as const satisfies ModelRow

/** The total row of one type of postings: their number, their sum, and the commission of the same family. */
const totalRow = (
  asset: string,
  sums: ReadonlyArray<CostSum>,
  type: string,
  family: CostSum["family"] | null
): ModelRow => {
  const sumOf = (found: ReadonlyArray<CostSum>) => found.reduce((sum, each) => sum + each.usdc, 0n)
  const own = sums.filter((sum) => sum.type === type)
  const charged = sums.filter((sum) => sum.type === "COMMISSION" && sum.family === family)
  return {
    ...emptyRow,
    asset,
    quantity: String(own.reduce((rows, each) => rows + each.rows, 0)),
    cost: family === null ? null : usdc(-sumOf(charged)),
    result: usdc(sumOf(own))
  }
}

const sumsOf = (at: Building): Effect.Effect<ReadonlyArray<CostSum>, Wrong> =>
  Effect.gen(function* () {
    const found: Array<CostSum> = []
    yield* eachStretch(at, postingsOfPeriod(at), (stretch) =>
      Effect.map(reading(costSums(at.sql, at.client.clientId, stretch)), (sums) => void found.push(...sums))
    )
    return found
  })

const writtenOff =
  "Principal of staking swaps that was written off has not been disposed of: it keeps its cost, and its loss is the client's to claim."

/** Limit on the postings that a note names; further ones are only counted. */
const mostNamed = 10

const notValued = (unvalued: ReadonlyArray<Unvalued>): string => {
  const named = [...new Set(unvalued.map(unvaluedText))]
  const more = named.length - mostNamed
  const list = named.slice(0, mostNamed).join(", ")
  return `Not valued, for want of a market price when it was booked, and counted as zero: ${list}${more > 0 ? `, and ${more} more` : ""}.`
}

const unvaluedText = ({ asset, at, qty }: Unvalued): string =>
  `${formatAmount(qty, asset)} ${asset} on ${new Date(at).toISOString()}`

/** True if staff have written off a claim of the client within the period. */
const hasWriteOff = ({ sql, client, cut, period }: Building): Effect.Effect<boolean, Wrong> =>
  Effect.map(reading(swapsWrittenOff(sql, client.clientId, cut.swapId)), (swaps) =>
    [...swaps.values()].some(({ writeOffs }) => writeOffs.some(({ at }) => at >= period.from && at < period.to))
  )

const perpetuals = ({ sql, client, start, cut }: Building, emit: Emit<Wrong>): Effect.Effect<void, Wrong> =>
  eachPage(
    pageRows,
    (after) => reading(fillsOf(sql, client.clientId, { after, to: cut.fillId }, pageRows, "PERP")),
    ({ id }) => id,
    (fills) =>
      emit(
        fills.map(({ symbol, qty, closedQty, bookedAt, commission, realizedPnl }) => ({
          ...emptyRow,
          asset: symbol,
          ...(closedQty === null ? { acquired: bookedAt } : { disposed: bookedAt }),
          quantity: closedQty ?? qty,
          cost: usdc(commission),
          result: usdc(realizedPnl)
        }))
      ),
    start.fillId
  )

/** Passes the period's postings of some types to `work`, one range of ids at a time. */
const eachPosting = (
  at: Building,
  types: ReadonlyArray<string>,
  work: (postings: ReadonlyArray<StatementPosting>) => Effect.Effect<void, Wrong>
): Effect.Effect<void, Wrong> =>
  eachStretch(at, postingsOfPeriod(at), (stretch) =>
    Effect.flatMap(reading(postingsOfTypes(at.sql, at.client.clientId, texts(types), stretch)), work)
  )

/**
 * The rows of contracts: one for an opening with its charge, one for an end with its result. Each belongs to the year in
 * which it was booked.
 */
const contractRows = (at: Building, emit: Emit<Wrong>): Effect.Effect<void, Wrong> =>
  eachPosting(at, ["BARRIER_SETTLE", "COMMISSION"], (all) =>
    Effect.gen(function* () {
      const postings = all.filter((posting) => contractOf(posting) !== null)
      for (let from = 0; from < postings.length; from += pageRows) {
        const page = postings.slice(from, from + pageRows)
        const ids = page.flatMap((posting) => contractOf(posting) ?? [])
        const contracts = new Map((yield* reading(contractsByIds(at.sql, ids))).map(({ id, context }) => [id, context]))
        yield* emit(
          page.flatMap((posting): ReadonlyArray<ModelRow> => {
            const contract = contracts.get(contractOf(posting) ?? 0)
            if (contract === undefined) return []
            const { symbol, openedAt, qty } = contract
            const row = { ...emptyRow, asset: symbol, acquired: openedAt, quantity: qty }
            return posting.type === "COMMISSION"
              ? [{ ...row, cost: usdc(-posting.amount), result: usdc(0n) }]
              : [{ ...row, disposed: posting.ts, cost: usdc(0n), result: usdc(posting.amount) }]
          })
        )
      }
    })
  )

interface StakingRow {
  readonly isShare: boolean
  /** The value in micro-USDC at the mark of the booking; zero if it was booked without a mark. */
  readonly worth: bigint
  /** The posting if it was booked without a mark, so that a note can name it; otherwise null. */
  readonly lacksValue: (Unvalued & Pick<StatementPosting, "postingId">) | null
  readonly row: ModelRow
}

/** Passes the rewards as they were paid, and the service's shares of them, to `work`. */
const eachStaking = (
  at: Building,
  work: (rows: ReadonlyArray<StakingRow>) => Effect.Effect<void, Wrong>
): Effect.Effect<void, Wrong> =>
  eachPosting(at, ["SWAP_SETTLE", "COMMISSION"], (postings) => work(postings.flatMap(stakingRow)))

const staking = (at: Building, emit: Emit<Wrong>): Effect.Effect<void, Wrong> =>
  eachStaking(at, (rows) => emit(rows.map(({ row }) => row)))

const stakingRow = (posting: StatementPosting): ReadonlyArray<StakingRow> => {
  if (swapOf(posting) === null) return []
  const isShare = posting.type === "COMMISSION"
  // The payment beyond the reward does not count: an overpayment by a writer is no income (A3-42, F22).
  const quantity = isShare ? -posting.amount : partOf(posting, "reward")
  if (quantity === 0n) return []
  const worth = isShare ? chargeOf(posting, quantity) : worthOf(posting, quantity)
  const known = isValued(posting)
  const row = {
    ...emptyRow,
    asset: posting.currency,
    disposed: posting.ts,
    quantity: formatAmount(quantity, posting.currency),
    proceeds: isShare || !known ? null : usdc(worth),
    cost: isShare && known ? usdc(worth) : null,
    result: known ? usdc(isShare ? -worth : worth) : null
  }
  const lacksValue = known
    ? null
    : { postingId: posting.postingId, asset: posting.currency, at: posting.ts, qty: quantity }
  return [{ isShare, worth, lacksValue, row }]
}

const funding = (at: Building, emit: Emit<Wrong>): Effect.Effect<void, Wrong> =>
  eachPosting(at, ["FUNDING"], (postings) =>
    emit(
      postings.map(({ ts, amount, refs }) => ({
        ...emptyRow,
        asset: text(refs["symbol"]),
        disposed: ts,
        quantity: text(refs["qty"]),
        result: usdc(amount)
      }))
    )
  )

const text = (value: unknown): string | null => (typeof value === "string" ? value : null)
