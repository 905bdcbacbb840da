// The deposit routes: query judged here, everything else by the service (doc 3, Deposit notice and Money write gates). A
// malformed query is refused only once the client is known to be the caller's (A1-02: 10 before 11).
import { Effect } from "effect"
import { type DepositNotice, depositStatuses } from "../../machines/deposit/DepositNotice.ts"
import { pageLimits } from "../../machines/shared/Limits.ts"
import type { Clients } from "../../runtime/services/client/Clients.ts"
import type { Deposits } from "../../runtime/services/deposit/Deposits.ts"
import { QueryReader } from "../middleware/queries.ts"
import { gateRefusals, invalidQuery } from "../toWire.ts"
import { data, type Read, refused } from "./reads.ts"
import { enveloped, type Write, write } from "./writes.ts"

const depositsQuery = (search: string) => {
  const reader = new QueryReader(search)
  return reader.finish({
    limit: reader.limit(pageLimits.deposits),
    ...reader.before(),
    ...reader.token("status", depositStatuses)
  })
}

/** The reads of the deposits group by operation id. */
export const depositReads = (
  deposits: Pick<Deposits["Service"], "list">,
  clients: Pick<Clients["Service"], "get">
): Readonly<Record<string, Read>> => ({
  "deposits.list": ({ exchange, partnerId }) => {
    const parsed = depositsQuery(exchange.search)
    return parsed.ok
      ? Effect.map(deposits.list(partnerId, parsed.query), data)
      : Effect.succeed(refused(invalidQuery(parsed.errors)))
  },
  "deposits.listOfClient": ({ exchange, partnerId, clientId }) => {
    const parsed = depositsQuery(exchange.search)
    if (parsed.ok) {
      return Effect.map(deposits.list(partnerId, { ...parsed.query, clientId }), (page) =>
        page === null ? refused(gateRefusals.unknownClient) : data(page)
      )
    }
    return Effect.map(clients.get(partnerId, clientId), (client) =>
      refused(client === null ? gateRefusals.unknownClient : invalidQuery(parsed.errors))
    )
  }
})

interface DepositSuccess {
  readonly status: 200 | 201
  readonly notice: DepositNotice
}

/** The writes of the deposits group by operation id. */
export const depositWrites = (deposits: Pick<Deposits["Service"], "file">): Readonly<Record<string, Write>> => ({
  "deposits.file": write(
    ({ status, notice }: DepositSuccess) => enveloped(status, notice),
    ({ caller, clientId, body }, store) => deposits.file(caller, clientId, body, store)
  )
})
