// The settlement routes: query and path judged here, everything else by the service (doc 3, Settlement item and
// Settlement reporting rules). The client a list is about is a query parameter, told as unknown before anything else is
// wrong with the query (A1-02: 10 before 11).
import { Effect } from "effect"
import { settlementStatuses } from "../../machines/settlement/SettlementItem.ts"
import { pageLimits } from "../../machines/shared/Limits.ts"
import type { SettlementItems, SettlementReported } from "../../runtime/services/SettlementItems.ts"
import { QueryReader } from "../middleware/queries.ts"
import { gateRefusals, invalidQuery, toWire } from "../toWire.ts"
import { data, type Read, refused } from "./reads.ts"
import { enveloped, type Write, write } from "./writes.ts"

const itemsQuery = (search: string) => {
  const reader = new QueryReader(search)
  const client = reader.name("clientId")
  const parsed = reader.finish({
    limit: reader.limit(pageLimits.settlementItems),
    ...reader.before(),
    ...reader.token("status", settlementStatuses),
    ...reader.millis("since")
  })
  return { client, parsed }
}

/** The reads of the settlement group by operation id. */
export const settlementReads = (
  settlement: Pick<SettlementItems["Service"], "clientOf" | "list">
): Readonly<Record<string, Read>> => ({
  "settlement.listItems": ({ exchange, partnerId }) =>
    Effect.gen(function* () {
      const { client, parsed } = itemsQuery(exchange.search)
      const clientId = client === null ? undefined : yield* settlement.clientOf(partnerId, client)
      if (clientId === null) return refused(gateRefusals.unknownClient)
      if (!parsed.ok) return refused(invalidQuery(parsed.errors))
      return data(
        yield* settlement.list(partnerId, { ...parsed.query, ...(clientId === undefined ? {} : { clientId }) })
      )
    })
})

/** The writes of the settlement group by operation id. */
export const settlementWrites = (
  settlement: Pick<SettlementItems["Service"], "report" | "missing">
): Readonly<Record<string, Write>> => ({
  "settlement.reportItem": write(
    (reported: SettlementReported) => enveloped(200, reported),
    ({ caller, itemId, body }, store) => settlement.report(caller, itemId, body, store),
    ({ caller, itemId }) =>
      Effect.map(settlement.missing(caller.partner.row.id, itemId), (refusal) =>
        refusal === null ? null : toWire(refusal)
      )
  )
})
