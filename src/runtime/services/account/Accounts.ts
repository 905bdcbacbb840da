/**
 * Money as partners read it: balances now and the account summary from the client's actor, balances of an earlier moment
 * and the ledger from postings (doc 2, Account reads; F23, A2-60).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type {
  AccountSummaryWire,
  BalanceLine,
  BalancesWire,
  LedgerPage,
  PostingWire
} from "../../../machines/account/AccountWire.ts"
import { riskFigures } from "../../../machines/margin/riskFigures.ts"
import { type Currency, currencyCodes, currencyFacts } from "../../../machines/shared/Currency.ts"
import { formatAmount } from "../../../machines/shared/Money.ts"
import { ActorHost, type Attribution, type DispatchError, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import type { BalanceRow } from "../../store/tables/ledger.ts"
import { accountSummary } from "./accountSummary.ts"
import { clientSubject, ownClient } from "../client/clientState.ts"
import { cutPage, type PageQuery } from "../../store/paging.ts"
import { type BookedPosting, clientPostings, heldAt } from "../../store/reads/ledgerReads.ts"
import { whenAway } from "../../store/whenAway.ts"

export class Accounts extends Context.Service<
  Accounts,
  {
    balances(partnerId: number, clientId: number): Effect.Effect<BalancesWire | null, Unavailable>
    /** The balances right after the last posting at or before `at` (Unix ms); a moment to come is now. */
    balancesAt(partnerId: number, clientId: number, at: number): Effect.Effect<BalancesWire | null, Unavailable>
    summary(partnerId: number, clientId: number): Effect.Effect<AccountSummaryWire | null, Unavailable>
    ledger(partnerId: number, clientId: number, query: PageQuery): Effect.Effect<LedgerPage | null, Unavailable>
  }
>()("brokerage/runtime/services/account/Accounts") {
  static readonly layer = Layer.effect(
    Accounts,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const sql = yield* PgClient.PgClient
      const clock = yield* BusinessClock
      const balances = (partnerId: number, clientId: number) =>
        host.read(clientSubject(clientId), (state) =>
          ownClient(state, partnerId) === null ? null : balancesOf(state.all("balances"), true)
        )
      return Accounts.of({
        balances,
        balancesAt: (partnerId, clientId, at) =>
          Effect.gen(function* () {
            const now = clock.now()
            if (at >= now) return yield* balances(partnerId, clientId)
            const own = yield* host.read(clientSubject(clientId), (state) => ownClient(state, partnerId) !== null)
            if (!own) return null
            if (now - at < settledMillis) yield* settled(host, clientId)
            return balancesOf(yield* replay(sql, partnerId, clientId, at), false)
          }),
        summary: (partnerId, clientId) =>
          host.read(clientSubject(clientId), (state) => {
            const client = ownClient(state, partnerId)
            return client === null ? null : accountSummary(client.createdAt)
          }),
        ledger: (partnerId, clientId, query) =>
          Effect.gen(function* () {
            const own = yield* host.read(clientSubject(clientId), (state) => ownClient(state, partnerId) !== null)
            if (!own) return null
            const rows = yield* Effect.catch(clientPostings(sql, clientId, query.before, query.limit + 1), whenAway)
            const { shown, end } = cutPage(rows, query.limit, (row) => row.postingId)
            return { postings: shown.map(postingOf), ...end }
          })
      })
    })
  )
}

const postingOf = (posting: BookedPosting): PostingWire => ({
  ...posting,
  amount: formatAmount(posting.amount, posting.currency)
})

/** A turn decided this long ago is in the database, or nobody knows and every read is refused. */
const settledMillis = 60_000
const by: Attribution = { role: "SYSTEM", keyLabel: "reads", requestId: "reads", actor: "system:reads" }

/** Waits for the client's turns up to now, so that no posting of the asked moment comes in after the answer. */
const settled = (host: ActorHost["Service"], clientId: number): Effect.Effect<void, Unavailable> =>
  host
    .dispatch({ subject: clientSubject(clientId), by, decide: () => {} })
    .pipe(
      Effect.catch((error: DispatchError) => (error._tag === "Unavailable" ? Effect.fail(error) : Effect.die(error)))
    )

const replay = (
  sql: PgClient.PgClient,
  partnerId: number,
  clientId: number,
  at: number
): Effect.Effect<ReadonlyArray<BalanceRow>, Unavailable> =>
  heldAt(sql, clientId, at).pipe(
    Effect.map((held) => held.map((each) => ({ ...each, clientId, partnerId, deposited: 0n }))),
    Effect.catch(whenAway)
  )

/**
 * USDC first, then every other currency the client has held by then, in the order of the currency table. What needs live
 * marks or open positions is told of now alone: an earlier moment has the money that was there and no figure on top.
 */
const balancesOf = (rows: ReadonlyArray<BalanceRow>, live: boolean): BalancesWire => {
  const byCurrency = new Map(rows.map((row) => [row.currency, row]))
  const lines = currencyCodes
    .filter((currency) => currency === "USDC" || byCurrency.has(currency))
    .map((currency) => lineOf(currency, byCurrency.get(currency), live))
  const usdc = byCurrency.get("USDC")
  const usdcText = (minor: bigint) => formatAmount(minor, "USDC")
  const cash = usdc?.cash ?? 0n
  const reserved = usdc?.reserved ?? 0n
  const unrealizedPnl = live ? riskFigures(cash).unrealizedPnl : 0n
  return {
    balances: lines,
    portfolioValue: usdcText(cash + reserved + unrealizedPnl),
    portfolioCurrency: "USDC",
    portfolio: {
      cashTotal: usdcText(cash),
      reserved: usdcText(reserved),
      holdingsValue: usdcText(0n),
      stakedValue: usdcText(0n),
      unrealizedPnl: usdcText(unrealizedPnl),
      claimsValue: usdcText(0n),
      holdingsValued: lines.every((line) => line.currency === "USDC" || line.total === formatAmount(0n, line.currency)),
      currency: "USDC"
    }
  }
}

const lineOf = (currency: Currency, row: BalanceRow | undefined, live: boolean): BalanceLine => {
  const facts = currencyFacts[currency]
  const cash = row?.cash ?? 0n
  const reserved = row?.reserved ?? 0n
  const text = (minor: bigint) => formatAmount(minor, currency)
  const usdc = currency === "USDC"
  const figures = usdc && live ? riskFigures(cash) : null
  const spendable = figures !== null && figures.freeMargin < cash ? figures.freeMargin : cash
  return {
    currency,
    kind: facts.kind,
    cash: text(cash),
    reserved: text(reserved),
    total: text(cash + reserved),
    free: text(usdc && spendable < 0n ? 0n : spendable),
    displayDecimals: facts.displayDecimals,
    venueAsset: currency,
    equity: figures === null ? null : text(figures.equity),
    unrealizedPnl: figures === null ? null : text(figures.unrealizedPnl),
    freeMargin: figures === null ? null : text(figures.freeMargin),
    mark: usdc ? "1" : null,
    markFresh: usdc && live,
    value: usdc ? text(cash + reserved) : null,
    valueCurrency: "USDC",
    staked: text(0n),
    swapClaims: text(0n),
    stakedValue: formatAmount(0n, "USDC"),
    claimsValue: formatAmount(0n, "USDC")
  }
}
