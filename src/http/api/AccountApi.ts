/**
 * The account of one client: the balances, a bare route, its summary, the ledger and the notification feed (doc 2,
 * Balances, Other account reads; A1-03, A2-12, A2-60, A2-62..A2-64, EVT-10, F23).
 */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AccountSummaryWire, BalancesWire, LedgerPage } from "../../machines/account/AccountWire.ts"
import { NotificationsWire } from "../../machines/account/NotificationWire.ts"
import { notificationLimits, pageLimits } from "../../machines/shared/Limits.ts"
import { bareAs, okAs } from "./Envelope.ts"
import { clientParams, momentParam, nameParam, pageParams } from "./Parameters.ts"
import { BadRequest } from "./WireErrors.ts"

const at = momentParam(
  "at",
  "Our addition. Unix ms: the balances as the postings up to and including this moment add up to; a moment to come is now, before the account all is zero. Of an earlier moment the figures that need live marks are not known: equity, unrealizedPnl, freeMargin null, markFresh false, the portfolio's unrealizedPnl, stakedValue and claimsValue zero."
)

const notificationsExample = {
  items: [
    { kind: "BARRIER_NEAR_KO", ref: "5012", ts: 1_763_985_540_000, event: "barrier.near_barrier" },
    { kind: "BARRIER_SETTLED", ref: "5012", ts: 1_763_985_571_250, event: null }
  ],
  since: 1_763_899_200_000,
  asOf: 1_763_985_600_000
}

const zero = "0.000000"
const asset = {
  equity: null,
  unrealizedPnl: null,
  freeMargin: null,
  valueCurrency: "USDC",
  stakedValue: zero,
  claimsValue: zero
}

/** 500 USDC are set aside for a purchase. */
const balancesExample = {
  balances: [
    {
      ...asset,
      currency: "USDC",
      kind: "CASH",
      cash: "9494.000000",
      reserved: "500.000000",
      total: "9994.000000",
      free: "8294.000000",
      displayDecimals: 2,
      venueAsset: "USDC",
      equity: "9494.000000",
      unrealizedPnl: zero,
      freeMargin: "8294.000000",
      mark: "1",
      markFresh: true,
      value: "9994.000000",
      staked: zero,
      swapClaims: zero
    },
    {
      ...asset,
      currency: "BTC",
      kind: "ASSET",
      cash: "0.10000000",
      reserved: "0.00000000",
      total: "0.10000000",
      free: "0.10000000",
      displayDecimals: 8,
      venueAsset: "BTC",
      mark: "60000.0",
      markFresh: true,
      value: "6000.000000",
      staked: "0.00000000",
      swapClaims: "0.00000000"
    }
  ],
  portfolioValue: "15994.000000",
  portfolioCurrency: "USDC",
  portfolio: {
    cashTotal: "9494.000000",
    reserved: "500.000000",
    holdingsValue: "6000.000000",
    stakedValue: zero,
    unrealizedPnl: zero,
    claimsValue: zero,
    holdingsValued: true,
    currency: "USDC"
  }
}

const summaryExample = {
  currency: "USDC",
  realizedPnl: "600.000000",
  commissionPaid: "18.300000",
  fundingPaid: zero,
  tradeCount: 3,
  since: "2025-11-20T09:30:00.000Z",
  sinceTs: 1_763_631_000_000,
  realizedTotal: "550.000000",
  realizedByFamily: { fills: "600.000000", spot: zero, barrier: "-50.000000", staking: zero },
  commissionByFamily: { fills: "12.300000", barrier: "6.000000", staking: zero },
  counts: { fills: 3, barrierContracts: 1, swapTakes: 0 }
}

const posted = {
  actor: "system:venue",
  reason: null,
  ts: 1_763_989_200_000,
  currency: "USDC",
  kind: "cash",
  refs: { TradeId: 88_301, ClientOrderId: "O-12045", Instrument: "BTC-USDC-PERP" }
}

/** A trade that closed a position, and what it cost. */
const ledgerExample = {
  postings: [
    { ...posted, postingId: 90_114, txId: 45_072, type: "COMMISSION", amount: "-6.300000" },
    { ...posted, postingId: 90_112, txId: 45_071, type: "PNL", amount: "600.000000" }
  ],
  hasMore: true,
  nextBefore: 90_112
}

export class AccountApi extends HttpApiGroup.make("account")
  .add(
    HttpApiEndpoint.get("balances", "/clients/:clientId/balances", {
      params: clientParams,
      query: { at },
      success: bareAs(BalancesWire, balancesExample),
      error: BadRequest
    }).annotateMerge(OpenApi.annotations({ summary: "Balances of a client, now or at an earlier moment (bare)" })),
    HttpApiEndpoint.get("summary", "/clients/:clientId/account/summary", {
      params: clientParams,
      success: okAs(AccountSummaryWire, summaryExample)
    }).annotateMerge(OpenApi.annotations({ summary: "What trading brought and cost a client since its opening" })),
    HttpApiEndpoint.get("ledger", "/clients/:clientId/ledger", {
      params: clientParams,
      query: pageParams(pageLimits.history),
      success: okAs(LedgerPage, ledgerExample),
      error: BadRequest
    }).annotateMerge(OpenApi.annotations({ summary: "Ledger postings of a client, newest first" })),
    HttpApiEndpoint.get("notifications", "/clients/:clientId/notifications", {
      params: clientParams,
      query: {
        since: momentParam(
          "since",
          "Only items of this moment or later, Unix ms; 24 hours ago when absent. A moment to come has none."
        ),
        after: nameParam("Only items behind that one: sent by the reference of the header Link, to be sent as it is.")
      },
      success: okAs(NotificationsWire, notificationsExample),
      error: BadRequest
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Notifications of a client, oldest first",
        description: `What its webhooks say, and what they do not: kinds without an event, and items that were written too late to be forwarded. At most ${notificationLimits.answerMax}; when there are more, the header Link names the next answer (rel="next"). A poller goes on from the ts of its last item, which is sent again.`
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Account", description: "Balances, ledger and notifications of clients." })
  ) {}
