/**
 * The account of one client: balances (a bare route), summary, overview, ledger and notification feed (doc 2, Balances, Other
 * account reads; A1-03, A2-12, A2-60..A2-64, EVT-10, F23).
 */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AccountOverviewWire, AccountSummaryWire } from "../../machines/account/AccountWire.ts"
import { ok } from "./Envelope.ts"
import { clientParams } from "./Parameters.ts"
import { balances } from "./BalancesApi.ts"
import { ledger } from "./LedgerApi.ts"
import { notifications } from "./NotificationsApi.ts"

export class AccountApi extends HttpApiGroup.make("account")
  .add(
    balances,
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
    ledger,
    notifications
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Account", description: "Balances, ledger and notifications of clients." })
  ) {}
