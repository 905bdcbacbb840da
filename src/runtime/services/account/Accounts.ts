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
import type { AccountRisk } from "../../../machines/margin/accountRisk.ts"
import { type Facts, noFacts } from "../../../machines/market/Facts.ts"
import { holdingMark, type HoldingMark, valueAt } from "../../../machines/market/holdingMark.ts"
import { type Currency, currencyCodes, currencyFacts } from "../../../machines/shared/Currency.ts"
import { formatAmount } from "../../../machines/shared/Money.ts"
import { ActorHost, type Attribution, type DispatchError, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import type { BalanceRow } from "../../store/tables/ledger.ts"
import { accountIn } from "./accountNow.ts"
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
        host.read(clientSubject(clientId), (state, facts) =>
          ownClient(state, partnerId) === null
            ? null
            : balancesOf(state.all("balances"), { facts, risk: accountIn(state, facts).risk })
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
            return balancesOf(yield* replay(sql, partnerId, clientId, at), null)
          }),
        summary: (partnerId, clientId) =>
          host.read(clientSubject(clientId), (state) => {
            const client = ownClient(state, partnerId)
            const usdc = state.all("balances").find(({ currency }) => currency === "USDC")
            return client === null ? null : accountSummary(client.createdAt, state.one("accountTotals"), usdc?.funding)
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
    Effect.map((held) =>
      held.map((each) => ({ ...each, clientId, partnerId, deposited: 0n, fromVenue: 0n, funding: 0n }))
    ),
    Effect.catch(whenAway)
  )

/** The market of the moment, and the account's risk in it. */
interface Now {
  readonly facts: Facts
  readonly risk: AccountRisk
}

/**
 * USDC first, then every other currency the client has held by then, in the order of the currency table. What needs live
 * marks or open positions is a figure of the present: for an earlier moment (`now` null) only the money is shown.
 */
const balancesOf = (rows: ReadonlyArray<BalanceRow>, now: Now | null): BalancesWire => {
  const { facts, risk } = now ?? { facts: null, risk: null }
  const byCurrency = new Map(rows.map((row) => [row.currency, row]))
  const lines = currencyCodes
    .filter((currency) => currency === "USDC" || byCurrency.has(currency))
    .map((currency) => lineOf(currency, byCurrency.get(currency), currency === "USDC" ? risk : null, facts))
  const usdc = byCurrency.get("USDC")
  const usdcText = (minor: bigint) => formatAmount(minor, "USDC")
  const cash = usdc?.cash ?? 0n
  const reserved = usdc?.reserved ?? 0n
  const unrealizedPnl = risk === null ? 0n : risk.unrealizedPnl + risk.barrierUnrealizedPnl
  const holdings = currencyCodes.flatMap((currency) => {
    const row = byCurrency.get(currency)
    return currency === "USDC" || row === undefined ? [] : [valueOf(currency, row, facts)]
  })
  const holdingsValue = holdings.reduce<bigint>((sum, value) => sum + (value ?? 0n), 0n)
  return {
    balances: lines,
    portfolioValue: usdcText(cash + reserved + holdingsValue + unrealizedPnl),
    portfolioCurrency: "USDC",
    portfolio: {
      cashTotal: usdcText(cash),
      reserved: usdcText(reserved),
      holdingsValue: usdcText(holdingsValue),
      stakedValue: usdcText(0n),
      unrealizedPnl: usdcText(unrealizedPnl),
      claimsValue: usdcText(0n),
      holdingsValued: !holdings.includes(null),
      currency: "USDC"
    }
  }
}

/** The mark of a currency; of an earlier moment USDC's alone is known. */
const markOf = (currency: Currency, facts: Facts | null): HoldingMark | null =>
  facts === null && currency !== "USDC" ? null : holdingMark(currency, facts ?? noFacts)

/** Micro-USDC of a holding; null: it has no mark, and is not nothing. */
const valueOf = (currency: Currency, { cash, reserved }: BalanceRow, facts: Facts | null): bigint | null => {
  const total = cash + reserved
  const mark = markOf(currency, facts)
  return mark === null ? (total === 0n ? 0n : null) : valueAt(currency, total, mark)
}

/** `risk` stands on the USDC line of now alone. */
const lineOf = (
  currency: Currency,
  row: BalanceRow | undefined,
  risk: AccountRisk | null,
  facts: Facts | null
): BalanceLine => {
  const { kind, displayDecimals } = currencyFacts[currency]
  const cash = row?.cash ?? 0n
  const reserved = row?.reserved ?? 0n
  const text = (minor: bigint) => formatAmount(minor, currency)
  const usdc = currency === "USDC"
  const mark = markOf(currency, facts)
  const free = risk?.free ?? cash
  return {
    currency,
    kind,
    cash: text(cash),
    reserved: text(reserved),
    total: text(cash + reserved),
    free: text(usdc && free < 0n ? 0n : free),
    displayDecimals,
    venueAsset: currency,
    equity: risk === null ? null : text(risk.equity),
    unrealizedPnl: risk === null ? null : text(risk.unrealizedPnl),
    freeMargin: risk === null ? null : text(risk.freeMargin),
    mark: mark?.text ?? null,
    markFresh: facts !== null && mark?.fresh === true,
    value: mark === null ? null : formatAmount(valueAt(currency, cash + reserved, mark), "USDC"),
    valueCurrency: "USDC",
    staked: text(0n),
    swapClaims: text(0n),
    stakedValue: formatAmount(0n, "USDC"),
    claimsValue: formatAmount(0n, "USDC")
  }
}
