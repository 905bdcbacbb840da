/**
 * CLIENT_ASSETS (A2-73, STS-27): what was held at the last instant of the quarter, currency by currency, then open positions and
 * contracts, each with who holds it and what it was worth by the mark of that midnight.
 */
import { Effect } from "effect"
import { type Currency, currencyCodes, currencyFacts } from "../../../machines/shared/Currency.ts"
import { formatAmount, MoneyDecimal, floorToMinor, toDecimal } from "../../../machines/shared/Money.ts"
import { unrealizedOf } from "../../../machines/margin/perpetual.ts"
import { spotOf } from "../../../machines/market/holdingMark.ts"
import type { ModelRow } from "../../../machines/statement/StatementModel.ts"
import { marksOfDays } from "../../store/reads/statementCosts.ts"
import { swapsByIds } from "../../store/reads/statementSwaps.ts"
import { AccountReplay, type HeldThen, type LentThen, type MarksThen, unrealizedOfContract } from "./AccountReplay.ts"
import { type Building, type Plan, type Reading, reading, type Wrong } from "./Building.ts"
import type { PlannedSection } from "./ModelWriter.ts"

const notes = [
  "As of the last instant of the period. Values are USDC at the marks of that midnight.",
  "Assets lent under staking swaps pass to their writer with full title; the claim on it is unsecured.",
  "The value of a position or a contract is what it had gained or lost, unrealised."
]

const noPrice = "There was no market price; the asset may be hard to sell."

export const planAssets = (at: Building, custodyModel: string): Effect.Effect<Plan, Wrong> =>
  Effect.gen(function* () {
    const { sql, period, cut } = at
    const days = yield* reading(marksOfDays(sql, period.to, period.to))
    const marks: MarksThen = days.get(period.to) ?? new Map()
    const account = new AccountReplay(at)
    yield* account.advance(cut)
    const custody = custodyModel === "PARTNER" ? "the partner, as collateral" : "the service, for the client"
    const held = (kind: "CASH" | "ASSET") =>
      currencyCodes.flatMap((currency) => {
        const balance = account.balances.get(currency)
        if (currencyFacts[currency].kind !== kind || balance === undefined) return []
        const lent = lentOf(account, currency)
        if (balance.cash === 0n && balance.reserved === 0n && lent === 0n) return []
        return [heldRow(currency, balance, lent, marks, custody)]
      })
    const sections = [
      section("CASH", held("CASH")),
      section("ASSETS", held("ASSET")),
      section("SWAPS", yield* lentRows(at, account.swaps, marks)),
      section(
        "POSITIONS",
        [...account.positions.values()]
          .toSorted((one, other) => (one.symbol < other.symbol ? -1 : 1))
          .map((position) => {
            const mark = marks.get(position.symbol)
            return openRow(
              position.symbol,
              new MoneyDecimal(position.netQty).toFixed(),
              mark,
              mark === undefined ? null : unrealizedOf(position, mark)
            )
          })
      ),
      section(
        "CONTRACTS",
        [...account.contracts]
          .toSorted(([one], [other]) => one - other)
          .map(([id, contract]) => {
            const mark = marks.get(contract.symbol)
            const quantity = contract.side === "BUY" ? contract.qty : `-${contract.qty}`
            const value = mark === undefined ? null : unrealizedOfContract(contract, mark)
            return { ...openRow(contract.symbol, quantity, mark, value), contractId: id }
          })
      )
    ]
    return {
      sections: sections.map(({ planned }) => planned),
      notes,
      rows: sections.reduce((sum, { rows }) => sum + rows, 0)
    }
  })

const section = (
  name: string,
  rows: ReadonlyArray<ModelRow>
): { readonly planned: PlannedSection<Wrong>; readonly rows: number } => ({
  planned: { facts: { name }, rows: (emit) => emit(rows) },
  rows: rows.length
})

/** The mark that a currency was valued by: its SPOT market's of that midnight, else par for money, else none. */
const markOf = (currency: Currency, marks: MarksThen): string | null =>
  currency === "USDC" ? "1" : (marks.get(spotOf(currency)) ?? (currencyFacts[currency].kind === "CASH" ? "1" : null))

const heldRow = (
  currency: Currency,
  { cash, reserved }: HeldThen,
  lent: bigint,
  marks: MarksThen,
  custody: string
): ModelRow => {
  const mark = markOf(currency, marks)
  const total = cash + reserved
  return {
    currency,
    asset: currency,
    quantity: formatAmount(total, currency),
    reserved: formatAmount(reserved, currency),
    inSwaps: formatAmount(lent, currency),
    mark,
    value: mark === null ? null : worth(total, currency, mark),
    custody,
    titleTransfer: false,
    unsecured: false,
    note: mark === null ? noPrice : ""
  }
}

/** What of a currency is lent. */
const lentOf = ({ swaps }: AccountReplay, currency: Currency): bigint =>
  [...swaps.values()].reduce((sum, each) => (each.currency === currency ? sum + each.left : sum), 0n)

/** Swaps whose principal has not come back, but for those written off as a whole by then. */
const lentRows = (
  { sql, period }: Building,
  swaps: ReadonlyMap<number, LentThen>,
  marks: MarksThen
): Reading<ReadonlyArray<ModelRow>> =>
  Effect.map(reading(swapsByIds(sql, [...swaps.keys()])), (contexts) =>
    [...swaps]
      .toSorted(([one], [other]) => one - other)
      .flatMap(([id, { currency, left }]) => {
        const swap = contexts.get(id)
        if (swap === undefined || (swap.closedTs !== null && swap.closedTs < period.to)) return []
        const mark = markOf(currency, marks)
        return [
          {
            ...openRow(swap.symbol, formatAmount(left, currency), mark ?? undefined, null),
            currency,
            inSwaps: formatAmount(left, currency),
            value: mark === null ? null : worth(left, currency, mark),
            custody: "the writer, with full title",
            titleTransfer: true,
            unsecured: true,
            swapId: id,
            maturityTs: swap.maturityTs
          }
        ]
      })
  )

const worth = (amount: bigint, currency: Currency, mark: string): string =>
  formatAmount(floorToMinor(toDecimal(amount, currency).mul(mark), "USDC"), "USDC")

const openRow = (symbol: string, quantity: string, mark: string | undefined, value: bigint | null): ModelRow => ({
  currency: "USDC",
  asset: symbol,
  quantity,
  reserved: null,
  inSwaps: null,
  mark: mark ?? null,
  value: value === null ? null : formatAmount(value, "USDC"),
  custody: "a contract of the client with the firm",
  titleTransfer: false,
  unsecured: false,
  note: mark === undefined ? noPrice : ""
})
