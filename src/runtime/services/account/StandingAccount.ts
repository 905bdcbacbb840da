/**
 * A client's committed account, with its figures at the marks of a moment. Holdings are read again only when their rows
 * change (SubjectState.derived). A change of cash alone reuses the figures of the holdings. Figures stay cached until a
 * mark that they use changes its price, and leave memory with the client's rows. Each call checks the age of the marks
 * again, because a mark becomes stale without a message (F3).
 */
import {
  type AccountRisk,
  type ContractRisk,
  contractRisk,
  type CashOf,
  type PendingAccept,
  pendingOf,
  riskOf,
  type RiskState
} from "../../../machines/margin/accountRisk.ts"
import { type PerpHolding, type PerpRisk, perpRisk } from "../../../machines/margin/perpRisk.ts"
import type { ContractTerms } from "../../../machines/contract/ContractTerms.ts"
import { type Facts, isFresh, type Mark } from "../../../machines/market/Facts.ts"
import type { TableName } from "../../tables/Catalogue.ts"
import { reading, type RowsOf } from "../../engine/mailbox/SubjectState.ts"
import type { RfqRow } from "../../tables/rfq.ts"
import type { ClientRow } from "../../tables/client.ts"
import type { BalanceRow } from "../../tables/ledger.ts"
import { termsOf } from "./contractHoldings.ts"
import { usdcMinor } from "../../../machines/shared/Money.ts"
import { holdingsOf, type PerpRows, perpRowsOf } from "./perpHoldings.ts"

export interface AccountNow {
  readonly cashOf: CashOf
  readonly risk: AccountRisk
  /** The recorded risk state: money gates check it besides the state that live marks imply (A1-12, A3-08). */
  readonly recorded: RiskState
}

/** Tables from which the figures of an account are computed, except its cash. */
const holdingTables = [
  "clients",
  "positions",
  "orders",
  "leverages",
  "barrierContracts",
  "rfqs",
  "riskMonitors"
] as const satisfies ReadonlyArray<TableName>

/** All tables from which the figures of an account are computed. */
export const accountTables = [...holdingTables, "balances"] as const

type HoldingRows = RowsOf<(typeof holdingTables)[number]>
type Balances = ReadonlyArray<BalanceRow>

/** A mark that the figures use; null: the market has no mark. */
interface Seen {
  mark: Mark
  readonly fresh: boolean
}

/** Holdings computed from one listing of the venue: each contains the grid, class and terms of its market. */
interface Listed extends Pick<Facts, "instruments" | "terms"> {
  readonly holdings: ReadonlyArray<PerpHolding>
}

/** Figures with every mark that they use. */
interface Figures {
  readonly balances: Balances
  readonly listed: Listed
  readonly seen: Map<string, Seen | null>
  readonly contracts: ContractRisk
  readonly now: AccountNow
}

class StandingAccount {
  private readonly client: Pick<ClientRow, "categorization"> | undefined
  private readonly perps: PerpRows
  private readonly contracts: ReadonlyArray<ContractTerms>
  private readonly pendingAcceptMargin: bigint
  private readonly recorded: RiskState
  private figures: Figures | null = null

  constructor(rows: HoldingRows) {
    this.client = rows.one("clients")
    this.perps = perpRowsOf(rows)
    this.contracts = rows.all("barrierContracts").map(termsOf)
    this.pendingAcceptMargin = pendingOf(acceptsOf(rows.all("rfqs")))
    this.recorded = rows.one("riskMonitors")?.state ?? "NORMAL"
  }

  /** Returns the same object, risk included, until the cash or a used mark changes. `balances` must be of the same state. */
  at(facts: Facts, balances: Balances): AccountNow {
    const { figures } = this
    const last = figures !== null && isOn(figures.listed, facts) ? figures : null
    const moved = last === null ? null : movedSince(last.seen, facts)
    if (last === null || moved !== null) this.figures = this.workedOut(facts, balances, last, moved)
    else if (last.balances === balances) return last.now
    else this.figures = { ...last, balances, now: this.nowOf(balances, last.contracts, last.now.risk.perps) }
    return this.figures.now
  }

  /** Computes the figures. `last`: figures of the same listing, whose parts are reused where their marks have not moved. */
  private workedOut(
    facts: Facts,
    balances: Balances,
    last: Figures | null,
    moved: ReadonlySet<string> | null
  ): Figures {
    const listed = last?.listed ?? this.listedOn(facts)
    const stays = (symbol: string): boolean => moved?.has(symbol) === false
    const contracts =
      last !== null && this.contracts.every(({ symbol }) => stays(symbol))
        ? last.contracts
        : contractRisk(this.contracts, facts)
    const perps = listed.holdings.map((holding, at) => {
      const part = last?.now.risk.perps[at]
      return part !== undefined && stays(holding.symbol) ? part : perpRisk(holding, facts)
    })
    return {
      balances,
      listed,
      seen: this.seenOn(facts, listed),
      contracts,
      now: this.nowOf(balances, contracts, perps)
    }
  }

  private nowOf(balances: Balances, contracts: ContractRisk, perps: ReadonlyArray<PerpRisk>): AccountNow {
    const { recorded, pendingAcceptMargin } = this
    const cashOf: CashOf = (currency) => balances.find((row) => row.currency === currency)?.cash ?? 0n
    return { cashOf, risk: riskOf({ cash: cashOf("USDC"), contracts, perps, pendingAcceptMargin }), recorded }
  }

  private listedOn(facts: Facts): Listed {
    const { instruments, terms } = facts
    return { instruments, terms, holdings: this.client === undefined ? [] : holdingsOf(this.perps, this.client, facts) }
  }

  private seenOn(facts: Facts, { holdings }: Listed): Figures["seen"] {
    const symbols = new Set([...holdings, ...this.contracts].map(({ symbol }) => symbol))
    return new Map(Array.from(symbols, (symbol) => [symbol, seenAt(symbol, facts)]))
  }
}

/** A client's account, cached until a row of its holdings changes. */
export const standingAccount = reading(holdingTables, (rows) => new StandingAccount(rows))

/** Accepted requests to open a contract for which the venue's reply is outstanding (F7). */
export const acceptsOf = (rfqs: ReadonlyArray<RfqRow>): ReadonlyArray<PendingAccept> =>
  rfqs.flatMap(({ closeContractId, context: { accepting } }) =>
    accepting === null || closeContractId !== null
      ? []
      : [{ premium: usdcMinor(accepting.premium), commission: usdcMinor(accepting.commission) }]
  )

const isOn = (listed: Listed, { instruments, terms }: Facts): boolean =>
  listed.instruments === instruments && listed.terms === terms

const seenAt = (symbol: string, { marks, takenAt }: Facts): Seen | null => {
  const mark = marks.get(symbol)
  return mark === undefined ? null : { mark, fresh: isLive(mark, takenAt) }
}

const isLive = (mark: Mark, takenAt: number | null): boolean => takenAt !== null && isFresh(mark, takenAt)

/** The markets whose marks have changed; null: none has. */
const movedSince = (seen: Figures["seen"], { marks, takenAt }: Facts): ReadonlySet<string> | null => {
  let moved: Set<string> | null = null
  for (const [symbol, before] of seen) {
    const mark = marks.get(symbol) ?? null
    if (before === null || mark === null) {
      if (mark !== before) (moved ??= new Set()).add(symbol)
    } else if (before.fresh !== isLive(mark, takenAt) || !isSamePrice(before.mark, mark)) {
      ;(moved ??= new Set()).add(symbol)
    } else before.mark = mark
  }
  return moved
}

/** Whether two marks have the same price. A repeated price with a new time changes only the freshness of the mark. */
const isSamePrice = (one: Mark, other: Mark): boolean =>
  one.places === other.places && (one.price === other.price || one.price.eq(other.price))
