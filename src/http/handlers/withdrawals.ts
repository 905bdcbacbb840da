// The withdrawal routes: query and path judged here, everything else by the service (doc 3, Withdrawal request and Money
// write gates). A malformed query is refused only once the client is known to be the caller's (A1-02: 10 before 11).
import { Effect } from "effect"
import { pageLimits } from "../../machines/shared/Limits.ts"
import { type WithdrawalRequest, withdrawalStatuses } from "../../machines/withdrawal/WithdrawalRequest.ts"
import type { Clients } from "../../runtime/services/client/Clients.ts"
import type { Withdrawals } from "../../runtime/services/withdrawal/Withdrawals.ts"
import { QueryReader } from "../middleware/queries.ts"
import { gateRefusals, invalidQuery, toWire } from "../toWire.ts"
import { data, type Read, refused } from "./reads.ts"
import { enveloped, type Write, write } from "./writes.ts"

const withdrawalsQuery = (search: string) => {
  const reader = new QueryReader(search)
  return reader.finish({
    limit: reader.limit(pageLimits.withdrawals),
    ...reader.before(),
    ...reader.token("status", withdrawalStatuses)
  })
}

/** The reads of the withdrawals group by operation id. */
export const withdrawalReads = (
  withdrawals: Pick<Withdrawals["Service"], "list">,
  clients: Pick<Clients["Service"], "get">
): Readonly<Record<string, Read>> => ({
  "withdrawals.list": ({ exchange, partnerId }) => {
    const parsed = withdrawalsQuery(exchange.search)
    return parsed.ok
      ? Effect.map(withdrawals.list(partnerId, parsed.query), data)
      : Effect.succeed(refused(invalidQuery(parsed.errors)))
  },
  "withdrawals.listOfClient": ({ exchange, partnerId, clientId }) => {
    const parsed = withdrawalsQuery(exchange.search)
    if (parsed.ok) {
      return Effect.map(withdrawals.list(partnerId, { ...parsed.query, clientId }), (page) =>
        page === null ? refused(gateRefusals.unknownClient) : data(page)
      )
    }
    return Effect.map(clients.get(partnerId, clientId), (client) =>
      refused(client === null ? gateRefusals.unknownClient : invalidQuery(parsed.errors))
    )
  }
})

interface Filed {
  readonly status: 200 | 201
  readonly request: WithdrawalRequest
}

interface Cancelled {
  readonly request: WithdrawalRequest
  readonly alreadyDecided: boolean
}

/** The writes of the withdrawals group by operation id. */
export const withdrawalWrites = (
  withdrawals: Pick<Withdrawals["Service"], "file" | "cancel" | "missing">
): Readonly<Record<string, Write>> => ({
  "withdrawals.request": {
    ...write(
      ({ status, request }: Filed) => enveloped(status, request),
      ({ caller, clientId, body, text }, store) => withdrawals.file(caller, clientId, body, store, text)
    ),
    verbatim: true
  },
  "withdrawals.cancel": write(
    (cancelled: Cancelled) => enveloped(200, cancelled),
    ({ caller, clientId, itemId }, store) => withdrawals.cancel(caller, clientId, itemId, store),
    ({ caller, itemId }) =>
      Effect.map(withdrawals.missing(caller.partner.row.id, itemId), (refusal) =>
        refusal === null ? null : toWire(refusal)
      )
  )
})
