/**
 * Money of one client: the balances, a bare route, the account summary and the ledger (doc 2, Balances, Other account
 * reads; A1-03, A2-12, A2-60, A2-62, A2-63, F23).
 */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AccountSummaryWire, BalancesWire, LedgerPage } from "../../machines/account/AccountWire.ts"
import { pageLimits } from "../../machines/shared/Limits.ts"
import { bare, ok } from "./Envelope.ts"
import { clientParams, momentParam, pageParams } from "./Parameters.ts"
import { BadRequest } from "./WireErrors.ts"

const at = momentParam(
  "at",
  "Our addition. Unix ms: the balances as the postings up to and including this moment add up to; a moment to come is now, before the account all is zero. Of an earlier moment the figures that need live marks are not known: equity, unrealizedPnl, freeMargin null, markFresh false, the portfolio's unrealizedPnl, stakedValue and claimsValue zero."
)

export class AccountApi extends HttpApiGroup.make("account")
  .add(
    HttpApiEndpoint.get("balances", "/clients/:clientId/balances", {
      params: clientParams,
      query: { at },
      success: bare(BalancesWire.fields),
      error: BadRequest
    }).annotateMerge(OpenApi.annotations({ summary: "Balances of a client, now or at an earlier moment (bare)" })),
    HttpApiEndpoint.get("summary", "/clients/:clientId/account/summary", {
      params: clientParams,
      success: ok(AccountSummaryWire)
    }).annotateMerge(OpenApi.annotations({ summary: "What trading brought and cost a client since its opening" })),
    HttpApiEndpoint.get("ledger", "/clients/:clientId/ledger", {
      params: clientParams,
      query: pageParams(pageLimits.history),
      success: ok(LedgerPage),
      error: BadRequest
    }).annotateMerge(OpenApi.annotations({ summary: "Ledger postings of a client, newest first" }))
  )
  .annotateMerge(OpenApi.annotations({ title: "Account", description: "Balances and ledger of clients." })) {}
