/**
 * Settlement items as the partner reads and reports them. Postings create items (runtime/effects/settlementItems.ts).
 * The custody model plays no part here, so stored items stay readable and reportable under any later model.
 *
 * Items are not kept in memory. A report reads the item's row first and is then decided in its client's mailbox; its
 * commit claims the item's next change, so that of two reports decided on the same row only one is applied. The other
 * reads the row again (D12).
 */
import { Context, Effect, Layer } from "effect"
import type { SettlementItem, SettlementStatus } from "../../../../machines/settlement/SettlementItem.ts"
import {
  decodeSettlementReport,
  type SettlementReportBody
} from "../../../../machines/settlement/SettlementReportBody.ts"
import { parseId } from "../../../../machines/shared/Ids.ts"
import { accept, type Refusal, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { invalidBody } from "../../../../machines/shared/RequestBody.ts"
import { ActorHost, type DispatchError, type StoreAnswer, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import type { SettlementItemRow } from "../../../tables/settlement.ts"
import { type Caller, partnerNow } from "../../partners/Caller.ts"
import { clientSubject, readersClient } from "../../account/clientState.ts"
import { Directory } from "../../partners/Directory.ts"
import type { PageEnd, PageQuery } from "../../../store/paging.ts"
import { rowPage } from "../../account/listReads.ts"
import { firstRow } from "../../shared/firstRow.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { applyReport, changesOfItem, isLostToReports, noItem, wireItem } from "./settlementDecisions.ts"

export interface SettlementReported {
  readonly item: SettlementItem
  /** False if the item already had the reported status, so that nothing was written. */
  readonly changed: boolean
}

export type SettlementVerdict = Verdict<SettlementReported>

export interface SettlementQuery extends PageQuery {
  readonly clientId?: number
  readonly status?: SettlementStatus
  /** Selects items that occurred at this time or later, Unix ms. */
  readonly since?: number
}

export interface SettlementPage extends PageEnd {
  readonly items: ReadonlyArray<SettlementItem>
}

export class SettlementItems extends Context.Service<
  SettlementItems,
  {
    /** The partner's client with this id or uid; null when it has none. */
    clientOf(partnerId: number, idOrUid: string): Effect.Effect<number | null, Unavailable>
    /** Items of the partner, newest first; `clientId` must be one of its clients. */
    list(partnerId: number, query: SettlementQuery): Effect.Effect<SettlementPage, Unavailable>
    /** The refusal (404) if the partner has no item with this id; null if it has. */
    missing(partnerId: number, itemId: number | null): Effect.Effect<Refusal | null, Unavailable>
    /** Reports an item's status. `itemId` null: the path can't name an item, which is answered like an unknown one. */
    report(
      caller: Caller,
      itemId: number | null,
      body: unknown,
      store: StoreAnswer<SettlementVerdict>
    ): Effect.Effect<SettlementVerdict, DispatchError>
  }
>()("brokerage/runtime/services/money/settlement/SettlementItems") {
  static readonly layer = Layer.effect(
    SettlementItems,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const clock = yield* BusinessClock
      const directory = yield* Directory
      const stored = yield* RowReads

      const find = (partnerId: number, itemId: number): Effect.Effect<SettlementItemRow | null, Unavailable> =>
        firstRow(stored, "settlementItems", [
          { column: "id", value: itemId },
          { column: "partner_id", value: partnerId }
        ])

      const attempt = (
        caller: Caller,
        row: SettlementItemRow,
        report: SettlementReportBody,
        store: StoreAnswer<SettlementVerdict>
      ): Effect.Effect<SettlementVerdict, DispatchError> =>
        host.dispatch({
          subject: clientSubject(row.clientId),
          by: caller.by,
          partner: () => directory.stamp(row.partnerId),
          decide: (turn): SettlementVerdict => {
            const applied = applyReport(turn, row, report, partnerNow(directory, caller))
            if (!applied.ok) return applied
            return accept({ item: wireItem(applied.value.row), changed: applied.value.changed })
          },
          store
        })

      return SettlementItems.of({
        clientOf: (partnerId, idOrUid) => {
          const id = parseId(idOrUid)
          if (id !== undefined) {
            return host.read(clientSubject(id), (state) => readersClient(state, partnerId)?.id ?? null)
          }
          if (!uidShape.test(idOrUid)) return Effect.succeed(null)
          const conditions = [
            { column: "uid", value: idOrUid },
            { column: "partner_id", value: partnerId }
          ]
          return Effect.map(firstRow(stored, "clients", conditions), (client) => client?.id ?? null)
        },
        list: (partnerId, { clientId, since, ...query }) =>
          Effect.map(
            rowPage(
              stored,
              "settlementItems",
              [
                { column: "partner_id", value: partnerId },
                ...(clientId === undefined ? [] : [{ column: "client_id", value: clientId }]),
                ...(since === undefined ? [] : [{ column: "occurred_at", value: since, comparison: ">=" as const }])
              ],
              query,
              (row) => row.id
            ),
            ({ shown, end }) => ({ items: shown.map(wireItem), ...end })
          ),
        missing: (partnerId, itemId) =>
          itemId === null
            ? Effect.succeed(noItem)
            : Effect.map(find(partnerId, itemId), (row) => (row === null ? noItem : null)),
        report: (caller, itemId, body, store) => {
          const run = (tries: number): Effect.Effect<SettlementVerdict, DispatchError> =>
            Effect.flatMap(itemId === null ? Effect.succeed(null) : find(caller.partner.row.id, itemId), (row) => {
              if (row === null) return Effect.succeed(refuse(noItem))
              const decoded = decodeSettlementReport(body, { now: clock.now() })
              if (!decoded.ok) return Effect.succeed(refuse(invalidBody(decoded)))
              return Effect.catchIf(attempt(caller, row, decoded.body, store), isLostToReports, () =>
                tries === 0 ? Effect.fail(new Unavailable({ unknown: false })) : run(tries - 1)
              )
            })
          return run(changesOfItem)
        }
      })
    })
  )
}

/** A client uid: prefix, hyphen, digits (F31). Any other text names no client, so it causes no query. */
const uidShape = /^[A-Z0-9]{1,16}-[0-9]{8,16}$/
