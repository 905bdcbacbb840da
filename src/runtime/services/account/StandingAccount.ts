/**
 * A client's account as it is committed, with its figures on the market of a moment: the rows are read once for as long as they
 * stay as they are (SubjectState.derived), and the figures kept for as long as no mark that they use says anything else. What is
 * kept goes with the client's rows out of memory. Whether a mark is fresh is asked at every look: it grows old without a message (F3).
 */
import {
  type AccountRisk,
  type BarrierRisk,
  barrierRisk,
  type CashOf,
  type PendingAccept,
  pendingOf,
  riskOf,
  type RiskState
} from "../../../machines/margin/accountRisk.ts"
import { type PerpHolding, perpRisk } from "../../../machines/margin/perpRisk.ts"
import type { ContractTerms } from "../../../machines/barrier/ContractTerms.ts"
import { type Facts, isFresh, type Mark } from "../../../machines/market/Facts.ts"
import type { TableName } from "../../store/Catalogue.ts"
import { reading, type RowsOf } from "../../engine/mailbox/SubjectState.ts"
import type { RfqRow } from "../../store/tables/barrier.ts"
import type { ClientRow } from "../../store/tables/client.ts"
import { termsOf } from "../barrier/contractDecisions.ts"
import { usdcMinor } from "../../../machines/shared/Money.ts"
import { holdingsOf, type PerpRows, perpRowsOf } from "./perpHoldings.ts"

export interface AccountNow {
  readonly cashOf: CashOf
  readonly risk: AccountRisk
  /** The risk state that is recorded: money gates ask it besides the one that live marks imply (A1-12, A3-08). */
  readonly recorded: RiskState
}

/** Whatever an account's figures are worked out from. */
export const accountTables = [
  "clients",
  "balances",
  "positions",
  "orders",
  "leverages",
  "barrierContracts",
  "rfqs",
  "riskMonitors"
] as const satisfies ReadonlyArray<TableName>

type AccountRows = RowsOf<(typeof accountTables)[number]>

/** A mark as figures see it; null: none is known. */
interface Seen {
  mark: Mark
  readonly fresh: boolean
}

/** Holdings have grids, classes and terms in them: they are of one listing. */
interface Listed extends Pick<Facts, "instruments" | "terms"> {
  readonly holdings: ReadonlyArray<PerpHolding>
}

/** Figures, and every mark that they use. */
interface Figures {
  readonly listed: Listed
  readonly seen: Map<string, Seen | null>
  readonly barriers: BarrierRisk
  readonly now: AccountNow
}

export class StandingAccount {
  private readonly client: Pick<ClientRow, "categorization"> | undefined
  private readonly cash: ReadonlyMap<string, bigint>
  private readonly perps: PerpRows
  private readonly contracts: ReadonlyArray<ContractTerms>
  private readonly pendingAcceptMargin: bigint
  private readonly recorded: RiskState
  private figures: Figures | null = null

  constructor(rows: AccountRows) {
    this.client = rows.one("clients")
    this.cash = new Map(rows.all("balances").map(({ currency, cash }) => [currency, cash]))
    this.perps = perpRowsOf(rows)
    this.contracts = rows.all("barrierContracts").map(termsOf)
    this.pendingAcceptMargin = pendingOf(acceptsOf(rows.all("rfqs")))
    this.recorded = rows.one("riskMonitors")?.state ?? "NORMAL"
  }

  /** The same object, risk included, for as long as it says the same. */
  at(facts: Facts): AccountNow {
    const { figures } = this
    const last = figures !== null && isOn(figures.listed, facts) ? figures : null
    const moved = last === null ? null : movedSince(last.seen, facts)
    if (last !== null && moved === null) return last.now
    return (this.figures = this.workedOut(facts, last, moved)).now
  }

  /** `last`: of the same listing; of its parts those stand whose marks have not moved. */
  private workedOut(facts: Facts, last: Figures | null, moved: ReadonlySet<string> | null): Figures {
    const listed = last?.listed ?? this.listedOn(facts)
    const stays = (symbol: string): boolean => moved?.has(symbol) === false
    const barriers =
      last !== null && this.contracts.every(({ symbol }) => stays(symbol))
        ? last.barriers
        : barrierRisk(this.contracts, facts)
    const perps = listed.holdings.map((holding, at) => {
      const part = last?.now.risk.perps[at]
      return part !== undefined && stays(holding.symbol) ? part : perpRisk(holding, facts)
    })
    const { cashOf, recorded, pendingAcceptMargin } = this
    const risk = riskOf({ cash: cashOf("USDC"), barriers, perps, pendingAcceptMargin })
    return { listed, seen: this.seenOn(facts, listed), barriers, now: { cashOf, risk, recorded } }
  }

  private readonly cashOf: CashOf = (currency) => this.cash.get(currency) ?? 0n

  private listedOn(facts: Facts): Listed {
    const { instruments, terms } = facts
    return { instruments, terms, holdings: this.client === undefined ? [] : holdingsOf(this.perps, this.client, facts) }
  }

  private seenOn(facts: Facts, { holdings }: Listed): Figures["seen"] {
    const symbols = new Set([...holdings, ...this.contracts].map(({ symbol }) => symbol))
    return new Map(Array.from(symbols, (symbol) => [symbol, seenAt(symbol, facts)]))
  }
}

/** A client's account, for as long as its rows stay as they are. */
export const standingAccount = reading(accountTables, (rows) => new StandingAccount(rows))

/** Accepts of requests to open a contract that the venue has not answered (F7). */
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

/** The markets whose marks say something else than they did; null: none does. */
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

/** A mark that is only said again differs in its time, which counts in whether it is fresh. */
const isSamePrice = (one: Mark, other: Mark): boolean =>
  one.places === other.places && (one.price === other.price || one.price.eq(other.price))
