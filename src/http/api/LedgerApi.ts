/** Ledger postings of a client (doc 2, Other account reads; A1-03). */
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { LedgerPage } from "../../machines/account/AccountWire.ts"
import { pageLimits } from "../../machines/shared/Limits.ts"
import { ok } from "./Envelope.ts"
import { clientParams, pageParams } from "./Parameters.ts"
import { BadRequest } from "./WireErrors.ts"

export const ledger = HttpApiEndpoint.get("ledger", "/clients/:clientId/ledger", {
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
)
