/**
 * A client's committed portfolio, valued at the marks of a moment. The rows are read once per change. The results are
 * cached until a mark or the account's risk changes. All figures of a reply come from one state and one set of marks
 * (F23, STS-10, STS-12).
 */
import type { AccountOverviewWire, BalancesWire } from "../../../machines/account/AccountWire.ts"
import { noTotals } from "../../../machines/account/accountTotals.ts"
import { balancesWireOf } from "../../../machines/account/balancesWire.ts"
import { overviewOf } from "../../../machines/account/overview.ts"
import { type Held, type Portfolio, portfolioOf } from "../../../machines/account/portfolio.ts"
import { type LiveSwap, stakedByAsset, type StakedAsset } from "../../../machines/account/stakedSwaps.ts"
import type { AccountRisk } from "../../../machines/margin/accountRisk.ts"
import type { Facts } from "../../../machines/market/Facts.ts"
import { holdingMark, type HoldingMark } from "../../../machines/market/holdingMark.ts"
import { type Currency, currencyCodes } from "../../../machines/shared/Currency.ts"
import { progressOfSwap, termsOfSwap } from "../../../machines/swap/Swap.ts"
import { expectedPayout, outstandingOf } from "../../../machines/swap/swapFigures.ts"
import { reading, type RowsOf, type SubjectState } from "../../engine/mailbox/SubjectState.ts"
import type { TableName } from "../../tables/Catalogue.ts"
import type { BalanceRow } from "../../tables/ledger.ts"
import type { SwapRow } from "../../tables/swap.ts"
import { accountIn } from "./accountNow.ts"

/** The tables from which the portfolio is computed, besides those of the account's risk. */
const portfolioTables = [
  "clients",
  "balances",
  "accountTotals",
  "spotLots",
  "swaps"
] as const satisfies ReadonlyArray<TableName>

type PortfolioRows = RowsOf<(typeof portfolioTables)[number]>
type Overview = Omit<AccountOverviewWire, "asOf">

/** Cached replies for one state and one set of marks. Many readers share them: do not mutate. */
interface Shown {
  readonly risk: AccountRisk
  readonly marks: ReadonlyArray<HoldingMark | null>
  readonly portfolio: Portfolio
  readonly balances: BalancesWire
  /** The overview, which is computed on the first request for it; null before. */
  overview: Overview | null
}

class StandingPortfolio {
  private readonly rows: PortfolioRows
  private readonly held: ReadonlyMap<Currency, Held>
  private readonly staked: ReadonlyMap<Currency, StakedAsset>
  /** Currencies other than USDC that the client holds or has staked; each needs a mark to have a value. */
  private readonly valued: ReadonlyArray<Currency>
  private shown: Shown | null = null

  constructor(rows: PortfolioRows) {
    this.rows = rows
    this.held = heldOf(rows.all("balances"))
    this.staked = stakedByAsset(rows.all("swaps").flatMap(liveSwapOf))
    this.valued = currencyCodes.filter((code) => code !== "USDC" && (this.held.has(code) || this.staked.has(code)))
  }

  balances(risk: AccountRisk, facts: Facts): BalancesWire {
    return this.at(risk, facts).balances
  }

  overview(risk: AccountRisk, facts: Facts): Overview {
    const shown = this.at(risk, facts)
    const { rows, staked } = this
    return (shown.overview ??= overviewOf({
      portfolio: shown.portfolio,
      staked,
      risk,
      totals: rows.one("accountTotals") ?? noTotals,
      funding: fundingOf(rows.all("balances")),
      lots: rows.all("spotLots"),
      level: rows.one("clients")?.level ?? "NONE"
    }))
  }

  /** The portfolio at these marks. Returns the same object until its content changes. */
  private at(risk: AccountRisk, facts: Facts): Shown {
    const { held, staked, valued, shown } = this
    const marks = valued.map((currency) => holdingMark(currency, facts))
    if (shown?.risk === risk && marks.every((mark, index) => isSame(mark, shown.marks[index] ?? null))) return shown
    const markOf = (currency: Currency) =>
      currency === "USDC" ? holdingMark(currency, facts) : (marks[valued.indexOf(currency)] ?? null)
    const portfolio = portfolioOf({ held, staked, risk, markOf })
    return (this.shown = { risk, marks, portfolio, balances: balancesWireOf(portfolio, risk), overview: null })
  }
}

/** True for the same price and state of a mark. Its time alone changes no reply. */
const isSame = (one: HoldingMark | null, other: HoldingMark | null): boolean =>
  one === other || (one !== null && other !== null && one.text === other.text && one.fresh === other.fresh)

/**
 * A swap in the form of a reply, if it is staked or claimed. The amount of an ACCEPTING swap is not shown here, because it
 * is still in the reserve.
 */
const liveSwapOf = (row: SwapRow): ReadonlyArray<LiveSwap> => {
  const { state, currency, amount: notional, reward, paid, maturityAt, context } = row
  if ((state !== "OPEN" && state !== "DEFAULTED") || maturityAt === null) return []
  const terms = termsOfSwap(context)
  return [
    {
      asset: currency as Currency,
      state,
      notional,
      reward,
      expectedPayout: expectedPayout(terms),
      paid,
      claim: state === "DEFAULTED" ? outstandingOf(terms, progressOfSwap(context)) : 0n,
      maturityTs: maturityAt
    }
  ]
}

/** A client's balances by currency, from its stored rows. */
export const heldOf = (
  rows: ReadonlyArray<Pick<BalanceRow, "currency" | "cash" | "reserved">>
): ReadonlyMap<Currency, Held> => new Map(rows.map((row) => [row.currency as Currency, row]))

/** All funding of the client so far, micro-USDC; positive if the client received more than it paid. */
export const fundingOf = (rows: ReadonlyArray<BalanceRow>): bigint =>
  rows.find(({ currency }) => currency === "USDC")?.funding ?? 0n

const standing = reading(portfolioTables, (rows) => new StandingPortfolio(rows))

/** The committed balances of a client; one object until they change. */
export const balancesIn = (state: SubjectState, facts: Facts): BalancesWire =>
  state.derived(standing).balances(accountIn(state, facts).risk, facts)

/** The committed overview of a client, without its time. */
export const overviewIn = (state: SubjectState, facts: Facts): Overview =>
  state.derived(standing).overview(accountIn(state, facts).risk, facts)
