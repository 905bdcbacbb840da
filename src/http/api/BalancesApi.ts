/** Balances of a client, a bare route (doc 2, Balances; A2-60, A2-61). */
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { BalancesWire } from "../../machines/account/AccountWire.ts"
import { pageBudget } from "../../machines/shared/Limits.ts"
import { bare } from "./Envelope.ts"
import { clientParams, momentParam } from "./Parameters.ts"
import { heavyRead, RouteRules } from "./RouteRules.ts"
import { BadRequest } from "./WireErrors.ts"

const at = momentParam(
  "at",
  "Our addition. Unix ms: the balances as the postings up to and including this moment add up to; a moment to come is now, before the account all is zero. Of an earlier moment the figures that need live marks are not known: equity, unrealizedPnl, freeMargin null, markFresh false, the portfolio's unrealizedPnl, stakedValue and claimsValue zero."
)

export const balances = HttpApiEndpoint.get("balances", "/clients/:clientId/balances", {
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
  )
