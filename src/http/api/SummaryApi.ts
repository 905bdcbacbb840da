/** Figures over all clients of the calling partner (doc 1, Summary). */
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { PartnerSummary } from "../../machines/client/PartnerSummary.ts"
import { pageBudget } from "../../machines/shared/Limits.ts"
import { ok } from "./Envelope.ts"
import { heavyRead, RouteRules } from "./RouteRules.ts"

export const summary = HttpApiEndpoint.get("summary", "/summary", { success: ok(PartnerSummary) })
  .annotate(RouteRules, heavyRead(pageBudget.share))
  .annotateMerge(
    OpenApi.annotations({
      summary: "Counts and client cash over all clients",
      description:
        "Clients by lifecycle state and verification level, their cash by currency, and how much waits: deposits, withdrawals, reviews, open contracts and swaps. All of one moment, which asOf says."
    })
  )
