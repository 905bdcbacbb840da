/**
 * The account of one client: the balances, a bare route, its summary and overview, the ledger and the notification feed (doc 2,
 * Balances, Other account reads; A1-03, A2-12, A2-60..A2-64, EVT-10, F23).
 */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import {
  AccountOverviewWire,
  AccountSummaryWire,
  BalancesWire,
  LedgerPage
} from "../../machines/account/AccountWire.ts"
import { NotificationsWire } from "../../machines/account/NotificationWire.ts"
import { notificationLimits, pageBudget, pageLimits } from "../../machines/shared/Limits.ts"
import { bare, ok } from "./Envelope.ts"
import { clientParams, momentParam, nameParam, pageParams } from "./Parameters.ts"
import { heavyRead, RouteRules } from "./RouteRules.ts"
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
      success: bare(BalancesWire),
      error: BadRequest
    })
      .annotate(RouteRules, heavyRead(pageBudget.share, { with: "at" }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Balances of a client, now or at an earlier moment (bare)",
          description:
            "Each currency with cash, reserved, lent and what it is worth, and the portfolio that they make up; USDC first. With at, what the postings up to that millisecond add up to. A value whose mark is missing is null, and holdingsValued is false."
        })
      ),
    HttpApiEndpoint.get("summary", "/clients/:clientId/account/summary", {
      params: clientParams,
      success: ok(AccountSummaryWire)
    }).annotateMerge(
      OpenApi.annotations({
        summary: "What trading brought and cost a client since its opening",
        description:
          "Realised results, commissions and funding by family, since the account was opened, in USDC. The figures are kept as trades happen and proved against the postings."
      })
    ),
    HttpApiEndpoint.get("overview", "/clients/:clientId/account/overview", {
      params: clientParams,
      success: ok(AccountOverviewWire)
    }).annotateMerge(
      OpenApi.annotations({
        summary: "A client's whole portfolio in one call",
        description:
          "Every figure is of one state of the account and of the marks of one moment; docs/account-figures.md has the formula of each. 503 code 5030 when no venue is attached to the service."
      })
    ),
    HttpApiEndpoint.get("ledger", "/clients/:clientId/ledger", {
      params: clientParams,
      query: pageParams(pageLimits.history),
      success: ok(LedgerPage),
      error: BadRequest
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Ledger postings of a client, newest first",
        description:
          "Every change of the client's balances, with the transaction it belongs to and the references that explain it. Nothing is ever changed or taken away; a correction is a posting of its own. nextBefore is the before of the next page, null on the last one."
      })
    ),
    HttpApiEndpoint.get("notifications", "/clients/:clientId/notifications", {
      params: clientParams,
      query: {
        since: momentParam(
          "since",
          "Only items of this moment or later, Unix ms; 24 hours ago when absent. A moment to come has none."
        ),
        after: nameParam("Only items behind that one: sent by the reference of the header Link, to be sent as it is.")
      },
      success: ok(NotificationsWire),
      error: BadRequest
    })
      .annotate(RouteRules, heavyRead(notificationLimits.answerMax))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Notifications of a client, oldest first",
          description: `What its webhooks say, and what they do not: kinds without an event, and items that were written too late to be forwarded. At most ${notificationLimits.answerMax}; when there are more, the header Link names the next answer (rel="next"). A poller goes on from the ts of its last item, which is sent again.`
        })
      )
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Account", description: "Balances, ledger and notifications of clients." })
  ) {}
