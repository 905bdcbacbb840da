// The settlement routes: query and path judged here, everything else by the service (doc 3, Settlement item,
// Settlement report, Settlement summary and Settlement reporting rules; A3-22). The client a list is about is a query parameter, told as unknown before anything else is
// wrong with the query (A1-02: 10 before 11).
import { Effect } from "effect"
import { settlementStatuses } from "../../machines/settlement/SettlementItem.ts"
import { pageLimits } from "../../machines/shared/Limits.ts"
import { conflict, refuse, type Verdict } from "../../machines/shared/Refusal.ts"
import type { BusinessClock } from "../../runtime/engine/BusinessClock.ts"
import type { BulkKey, BulkReports } from "../../runtime/services/BulkReports.ts"
import type { SettlementItems, SettlementReported } from "../../runtime/services/SettlementItems.ts"
import type { SettlementReports } from "../../runtime/services/SettlementReports.ts"
import { type AnswerSlot, isSame } from "../middleware/idempotency.ts"
import { QueryReader } from "../middleware/queries.ts"
import { gateRefusals, invalidQuery, toWire } from "../toWire.ts"
import { data, type Read, refused } from "./reads.ts"
import { enveloped, renderRefusal, type Write, write } from "./writes.ts"

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

/** A window of time, of the report and of the summary alike: an end that is absent or in the future is now (A3-22). */
const windowOf = (search: string, now: number) => {
  const reader = new QueryReader(search)
  const { from = 0 } = reader.millis("from")
  const { to: sent = now } = reader.millis("to")
  const to = Math.min(sent, now)
  const parsed = reader.finish({ from, to, now })
  if (!parsed.ok || from <= to) return parsed
  return { ok: false, errors: { from: "The parameter from must not be after to, or after now." } } as const
}

const interfirmQuery = (search: string) => {
  const reader = new QueryReader(search)
  return reader.finish({ limit: reader.limit(pageLimits.interfirm), ...reader.before() })
}

/** The reads of the settlement group by operation id. */
export const settlementReads = (
  settlement: Pick<SettlementItems["Service"], "clientOf" | "list">,
  reports: SettlementReports["Service"],
  clock: Pick<BusinessClock["Service"], "now">
): Readonly<Record<string, Read>> => ({
  "settlement.report": ({ exchange, partnerId }) => {
    const parsed = windowOf(exchange.search, clock.now())
    if (!parsed.ok) return Effect.succeed(refused(invalidQuery(parsed.errors)))
    return Effect.map(reports.report(partnerId, parsed.query), data)
  },
  "settlement.summary": ({ exchange, partnerId }) => {
    const parsed = windowOf(exchange.search, clock.now())
    if (!parsed.ok) return Effect.succeed(refused(invalidQuery(parsed.errors)))
    return Effect.map(reports.summary(partnerId, parsed.query), data)
  },
  "settlement.interfirm": ({ exchange, partnerId }) => {
    const parsed = interfirmQuery(exchange.search)
    if (!parsed.ok) return Effect.succeed(refused(invalidQuery(parsed.errors)))
    return Effect.map(reports.interfirm(partnerId, parsed.query), data)
  },
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

const keyReused: Verdict<never> = refuse(conflict(gateRefusals.keyReused.msg))

const keyOf = ({ request }: AnswerSlot): BulkKey => ({
  key: request.key,
  fingerprint: request.fingerprint,
  isSame: (stored) => isSame(stored, request)
})

/** The writes of the settlement group by operation id. */
export const settlementWrites = (
  settlement: Pick<SettlementItems["Service"], "report" | "missing">,
  bulk: BulkReports["Service"]
): Readonly<Record<string, Write>> => ({
  "settlement.reportItems": {
    manyCommits: true,
    // The answer is stored by the dispatcher once every commit is in: no single one could store it.
    run: ({ caller, body, slot }) =>
      Effect.map(bulk.report(caller, body, slot === null ? null : keyOf(slot)), (verdict) =>
        verdict === "keyReused" ? keyReused : verdict
      ),
    render: (verdict: Verdict<unknown>) => {
      // Not about this request: stored, it would be told to the one that the key belongs to.
      if (verdict === keyReused) return { ...renderRefusal(gateRefusals.keyReused), passing: true }
      return verdict.ok ? enveloped(200, verdict.value) : renderRefusal(toWire(verdict.refusal))
    }
  },
  "settlement.reportItem": write(
    (reported: SettlementReported) => enveloped(200, reported),
    ({ caller, itemId, body }, store) => settlement.report(caller, itemId, body, store),
    ({ caller, itemId }) =>
      Effect.map(settlement.missing(caller.partner.row.id, itemId), (refusal) =>
        refusal === null ? null : toWire(refusal)
      )
  )
})
