/**
 * The settlement routes. A list names its client in the query, so the client is checked before errors of the query (doc 3,
 * Settlement item, Settlement report, Settlement summary and Settlement reporting rules; A1-02: 10 before 11; A3-22).
 */
import { Effect, Layer } from "effect"
import { renderRefusal } from "../../machines/shared/answerText.ts"
import { BusinessClock } from "../../runtime/engine/clock/BusinessClock.ts"
import { BulkReports } from "../../runtime/services/money/settlement/BulkReports.ts"
import { SettlementItems } from "../../runtime/services/money/settlement/SettlementItems.ts"
import { SettlementReports, type WindowQuery } from "../../runtime/services/money/settlement/SettlementReports.ts"
import { SettlementApi } from "../api/SettlementApi.ts"
import { gateRefusals, invalidQuery, toWire } from "../../machines/shared/wireRefusal.ts"
import { feature, handlersOf } from "./feature.ts"
import { done, refused, rendered, type Reply, write } from "./handler.ts"

export const settlement = feature({
  api: SettlementApi,
  layer: Layer.mergeAll(SettlementItems.layer, SettlementReports.layer, BulkReports.layer),
  handlers: Effect.gen(function* () {
    const items = yield* SettlementItems
    const reports = yield* SettlementReports
    const bulk = yield* BulkReports
    const clock = yield* BusinessClock
    /** The id of the client that a query names; null when the partner has no such client. */
    const clientOf = (partnerId: number, name: string | undefined) =>
      name === undefined ? Effect.succeed(undefined) : items.clientOf(partnerId, name)
    return handlersOf(SettlementApi, {
      listItems: {
        run: ({ caller, query: { clientId: name, ...query } }) =>
          Effect.flatMap(clientOf(caller.partner.row.id, name), (clientId) =>
            clientId === null
              ? Effect.succeed(refused(gateRefusals.unknownClient))
              : Effect.map(
                  items.list(caller.partner.row.id, clientId === undefined ? query : { ...query, clientId }),
                  done
                )
          ),
        lookUp: ({ caller, query }) =>
          Effect.map(clientOf(caller.partner.row.id, query.clientId), (clientId) =>
            clientId === null ? gateRefusals.unknownClient : null
          )
      },
      report: ({ caller, query }) =>
        within(windowOf(query, clock.now()), (window) => reports.report(caller.partner.row.id, window)),
      summary: ({ caller, query }) =>
        within(windowOf(query, clock.now()), (window) => reports.summary(caller.partner.row.id, window)),
      interfirm: ({ caller, query }) => Effect.map(reports.interfirm(caller.partner.row.id, query), done),
      reportItem: write(({ caller, params, body }, store) => items.report(caller, params.itemId, body, store), {
        lookUp: ({ caller, params }) =>
          Effect.map(items.missing(caller.partner.row.id, params.itemId), (refusal) =>
            refusal === null ? null : toWire(refusal)
          )
      }),
      reportItems: {
        manyCommits: true,
        // The write has several commits, and no single one can store the answer; the dispatcher stores it afterwards.
        run: ({ caller, body, key, form }) =>
          Effect.map(bulk.report(caller, body, key), (verdict) =>
            verdict.ok ? rendered(form, done(verdict.value)) : renderRefusal(toWire(verdict.refusal))
          )
      }
    })
  })
})

/** The period of a report or summary. An absent or future end counts as now. Null when the period ends before it starts. */
const windowOf = (
  { from = 0, to: sent }: { readonly from?: number; readonly to?: number },
  now: number
): WindowQuery | null => {
  const to = Math.min(sent ?? now, now)
  return from <= to ? { from, to, now } : null
}

const endsEarly = refused(invalidQuery({ from: "The parameter from must not be after to, or after now." }))

const within = <A, E>(
  window: WindowQuery | null,
  read: (window: WindowQuery) => Effect.Effect<A, E>
): Effect.Effect<Reply<A>, E> => (window === null ? Effect.succeed(endsEarly) : Effect.map(read(window), done))
