/**
 * Money as partners read it. Current balances, summary and overview come from one state of the client's actor. Balances
 * of an earlier moment and the ledger come from postings (F23, A2-60, A2-61).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type {
  AccountOverviewWire,
  AccountSummaryWire,
  BalancesWire,
  LedgerPage,
  PostingWire
} from "../../../machines/account/AccountWire.ts"
import { balancesWireOf } from "../../../machines/account/balancesWire.ts"
import { portfolioOf } from "../../../machines/account/portfolio.ts"
import { noFacts } from "../../../machines/market/Facts.ts"
import { holdingMark } from "../../../machines/market/holdingMark.ts"
import type { Currency } from "../../../machines/shared/Currency.ts"
import { formatAmount } from "../../../machines/shared/Money.ts"
import { accept, refuse, unknown, type Verdict } from "../../../machines/shared/Refusal.ts"
import { ActorHost, type Attribution, type DispatchError, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { accountSummary } from "./accountSummary.ts"
import { balancesIn, fundingOf, heldOf, overviewIn } from "./StandingPortfolio.ts"
import { clientSubject, readersClient } from "./clientState.ts"
import { noVenue } from "./accountNow.ts"
import { cutPage, type PageQuery } from "../../store/paging.ts"
import { type BookedPosting, clientPostings, type Held as HeldThen, heldAt } from "../../store/reads/ledgerReads.ts"
import { whenAway } from "../../store/whenAway.ts"

export class Accounts extends Context.Service<
  Accounts,
  {
    /** The balances of a client. Returns the same object until they change: do not mutate it. */
    balances(partnerId: number, clientId: number): Effect.Effect<BalancesWire | null, Unavailable>
    /**
     * The balances right after the last posting at or before `at` (Unix ms). A future `at` gives the current balances.
     */
    balancesAt(partnerId: number, clientId: number, at: number): Effect.Effect<BalancesWire | null, Unavailable>
    summary(partnerId: number, clientId: number): Effect.Effect<AccountSummaryWire | null, Unavailable>
    /** The overview of a client. Refused without a venue, and for another partner's client. */
    overview(partnerId: number, clientId: number): Effect.Effect<Verdict<AccountOverviewWire>, Unavailable>
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
        host.readNow(clientSubject(clientId), (state, facts) =>
          readersClient(state, partnerId) === null ? null : balancesIn(state, facts)
        )
      return Accounts.of({
        balances,
        balancesAt: (partnerId, clientId, at) =>
          Effect.gen(function* () {
            const now = clock.now()
            if (at >= now) return yield* balances(partnerId, clientId)
            const own = yield* host.read(clientSubject(clientId), (state) => readersClient(state, partnerId) !== null)
            if (!own) return null
            if (now - at < settledMillis) yield* settled(host, clientId)
            return balancesThen(yield* Effect.catch(heldAt(sql, clientId, at), whenAway))
          }),
        summary: (partnerId, clientId) =>
          host.read(clientSubject(clientId), (state) => {
            const client = readersClient(state, partnerId)
            const funding = fundingOf(state.all("balances"))
            return client === null ? null : accountSummary(client.createdAt, state.one("accountTotals"), funding)
          }),
        overview: (partnerId, clientId) =>
          host.readNow(clientSubject(clientId), (state, facts) => {
            if (readersClient(state, partnerId) === null) return refuse(unknown("Client"))
            return facts.takenAt === null ? noVenue : accept({ asOf: clock.now(), ...overviewIn(state, facts) })
          }),
        ledger: (partnerId, clientId, query) =>
          Effect.gen(function* () {
            const own = yield* host.read(clientSubject(clientId), (state) => readersClient(state, partnerId) !== null)
            if (!own) return null
            const rows = yield* Effect.catch(clientPostings(sql, clientId, query.before, query.limit + 1), whenAway)
            const { shown, end } = cutPage(rows, query.limit, (row) => row.postingId)
            return { postings: shown.map(postingOf), ...end }
          })
      })
    })
  )
}

/** A posting as partners and staff read it. */
export const postingOf = (posting: BookedPosting): PostingWire => ({
  ...posting,
  amount: formatAmount(posting.amount, posting.currency)
})

/**
 * The age from which decided turns count as stored, ms. While the result of an older turn is unknown, every read
 * fails anyway.
 */
const settledMillis = 60_000
const by: Attribution = { role: "SYSTEM", keyLabel: "reads", requestId: "reads", actor: "system:reads" }

/** Waits for all turns of the client so far, so that no posting of the requested moment is added after the reply. */
const settled = (host: ActorHost["Service"], clientId: number): Effect.Effect<void, Unavailable> =>
  host
    .dispatch({ subject: clientSubject(clientId), by, decide: () => {} })
    .pipe(
      Effect.catch((error: DispatchError) => (error._tag === "Unavailable" ? Effect.fail(error) : Effect.die(error)))
    )

/** Balances of an earlier moment. Only USDC has a known value then. */
const balancesThen = (rows: ReadonlyArray<HeldThen>): BalancesWire => {
  const markOf = (currency: Currency) => (currency === "USDC" ? holdingMark(currency, noFacts) : null)
  return balancesWireOf(portfolioOf({ held: heldOf(rows), staked: new Map(), risk: null, markOf }), null)
}
