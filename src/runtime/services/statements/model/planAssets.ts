/**
 * CLIENT_ASSETS statement: holdings at the last instant of the quarter, by currency, then open positions and contracts.
 * Each shows its holder and its value at the mark of that midnight (A2-73, STS-27).
 */
import { Effect } from "effect"
import { type Currency, currencyCodes, currencyFacts } from "../../../../machines/shared/Currency.ts"
import { decimalText, formatAmount, MoneyDecimal, floorToMinor, toDecimal } from "../../../../machines/shared/Money.ts"
import { unrealizedOf } from "../../../../machines/margin/perpetual.ts"
import { spotOf } from "../../../../machines/market/holdingMark.ts"
import { type MarksThen, unrealizedOfContract } from "../../../../machines/statement/equityThen.ts"
import type { ModelRow } from "../../../../machines/statement/StatementModel.ts"
import { marksOfDays } from "../../../store/reads/statementCosts.ts"
import { AccountReplay, type HeldThen } from "./AccountReplay.ts"
import { type Building, type Plan, reading, type Wrong } from "./Building.ts"
import type { PlannedSection } from "./ModelWriter.ts"
import { type Lent, swapsStanding } from "./swapsStanding.ts"

const notes = [
  "As of the last instant of the period. Values are USDC at the marks of that midnight.",
  "Assets lent under staking swaps pass to their writer with full title; the claim on it is unsecured.",
  "Of a swap in default quantity is what of the principal was still claimed; claim has the reward in it.",
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
    const standing = yield* swapsStanding(at, account.swaps)
    // Under PARTNER custody the partner holds the collateral, which is USDC; the service holds all other currencies
    // (A3-18).
    const custodyOf = (currency: Currency): string =>
      custodyModel === "PARTNER" && currency === "USDC" ? "the partner, as collateral" : "the service, for the client"
    const held = (kind: "CASH" | "ASSET") =>
      currencyCodes.flatMap((currency) => {
        const balance = account.balances.get(currency)
        if (currencyFacts[currency].kind !== kind || balance === undefined) return []
        const lent = standing.reduce(
          (sum, { swap, stood }) => (swap.asset === currency ? sum + stood.principal : sum),
          0n
        )
        if (balance.cash === 0n && balance.reserved === 0n && lent === 0n) return []
        return [heldRow(currency, balance, lent, marks, custodyOf(currency))]
      })
    const sections = [
      section("CASH", held("CASH")),
      section("ASSETS", held("ASSET")),
      section(
        "SWAPS",
        standing.map((each) => lentRow(each, marks))
      ),
      section(
        "POSITIONS",
        [...account.positions.values()]
          .toSorted((one, other) => (one.symbol < other.symbol ? -1 : 1))
          .map((position) => {
            const mark = marks.get(position.symbol)
            return openRow(
              position.symbol,
              decimalText(new MoneyDecimal(position.netQty)),
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

/**
 * The mark that values a currency: the mark of its SPOT market in `marks`. Without one, a CASH currency counts at par, and any
 * other has no value (null).
 */
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

const lentRow = ({ id, swap, stood: { principal, claim, writtenOff, state } }: Lent, marks: MarksThen): ModelRow => {
  const { asset: currency, symbol, maturityTs } = swap
  const mark = markOf(currency, marks)
  const text = (minor: bigint) => formatAmount(minor, currency)
  return {
    ...openRow(symbol, text(principal), mark ?? undefined, null),
    currency,
    claim: text(claim),
    writtenOff: text(writtenOff),
    value: mark === null ? null : worth(principal, currency, mark),
    custody: "the writer, with full title",
    titleTransfer: true,
    unsecured: true,
    state,
    swapId: id,
    maturityTs
  }
}

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
