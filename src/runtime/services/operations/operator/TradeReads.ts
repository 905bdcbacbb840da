/**
 * Requests for quotes, knock-out contracts, margin and close-outs of all clients for staff. Partners see the same rows
 * in the same form; staff also see the owner.
 */
import type { Noun } from "../../../../machines/shared/RefusalReason.ts"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { ContractWire } from "../../../../machines/contract/ContractWire.ts"
import { type CloseOutWire, closeOutWire } from "../../../../machines/margin/CloseOutWire.ts"
import type { MarginPicture } from "../../../../machines/margin/marginPicture.ts"
import type { RfqWire } from "../../../../machines/rfq/RfqWire.ts"
import { parseId } from "../../../../machines/shared/Ids.ts"
import { accept, refuse, unknown, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import { ActorHost, type Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import type { TableName, Tables } from "../../../tables/Catalogue.ts"
import type { Condition, PageEnd, PageQuery } from "../../../store/paging.ts"
import type { ContractRow } from "../../../tables/contract.ts"
import type { CloseOutRow } from "../../../tables/margin.ts"
import { contractWire } from "../../trading/contract/contractView.ts"
import { findClient } from "../../account/findClient.ts"
import { Margin } from "../../margin/Margin.ts"
import { Directory } from "../../partners/Directory.ts"
import { Rfqs } from "../../trading/rfq/Rfqs.ts"
import { firstRow } from "../../shared/firstRow.ts"
import { inState, type Whose, whosePage } from "./whosePage.ts"

export interface TradeQuery extends PageQuery, Whose {
  readonly state?: string
}

export type ContractView = ContractWire & { readonly clientId: number; readonly clientUid: string }

type Found<A> = Effect.Effect<Verdict<A>, Unavailable>

export class TradeReads extends Context.Service<
  TradeReads,
  {
    rfqs(query: TradeQuery): Found<PageEnd & { readonly rfqs: ReadonlyArray<RfqWire> }>
    rfq(id: string): Found<RfqWire>
    contracts(query: TradeQuery): Found<PageEnd & { readonly contracts: ReadonlyArray<ContractView> }>
    contract(id: string): Found<ContractView>
    /** `open`: true for running close-outs only, false for ended ones only. */
    closeOuts(
      query: PageQuery & Whose & { readonly open?: boolean }
    ): Found<PageEnd & { readonly closeouts: ReadonlyArray<CloseOutWire> }>
    /** The margin of a client. Refused without a venue. */
    margin(client: string): Found<MarginPicture>
  }
>()("brokerage/runtime/services/operations/operator/TradeReads") {
  static readonly layer = Layer.effect(
    TradeReads,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const sql = yield* PgClient.PgClient
      const clock = yield* BusinessClock
      const stored = yield* RowReads
      const directory = yield* Directory
      const rfqs = yield* Rfqs
      const margin = yield* Margin

      const tools = { host, sql, stored, directory }
      const one = <T extends TableName>(table: T, what: Noun, id: string): Found<Tables[T]> => {
        const value = parseId(id)
        return value === undefined
          ? Effect.succeed(refuse(unknown(what)))
          : Effect.map(firstRow(stored, table, [{ column: "id", value }]), (row) =>
              row === null ? refuse(unknown(what)) : accept(row)
            )
      }
      const contractView = (row: ContractRow): ContractView => ({
        ...contractWire(row, host.facts(), clock.now()),
        clientId: row.clientId,
        clientUid: row.context.account
      })
      const closeOutViews = (rows: ReadonlyArray<CloseOutRow>) =>
        Effect.map(stored.among("clients", [...new Set(rows.map(({ clientId }) => clientId))]), (clients) => {
          const uids = new Map(clients.map(({ id, uid }) => [id, uid]))
          return rows.map(({ state, context }) =>
            closeOutWire(state, context, uids.get(context.clientId) ?? String(context.clientId))
          )
        })

      return TradeReads.of({
        rfqs: ({ state, ...query }) =>
          Effect.gen(function* () {
            const page = yield* whosePage(tools, "rfqs", query, inState(state))
            if (!page.ok) return page
            const { shown, end } = page.value
            return accept({ rfqs: yield* Effect.forEach(shown, (row) => rfqs.shown(row), { concurrency: 16 }), ...end })
          }),
        rfq: (id) =>
          Effect.flatMap(one("rfqs", "Request", id), (found) =>
            found.ok ? Effect.map(rfqs.shown(found.value), accept) : Effect.succeed(found)
          ),
        contracts: ({ state, ...query }) =>
          Effect.map(whosePage(tools, "barrierContracts", query, inState(state)), (page) =>
            page.ok ? accept({ contracts: page.value.shown.map(contractView), ...page.value.end }) : page
          ),
        contract: (id) =>
          Effect.map(one("barrierContracts", "Contract", id), (found) =>
            found.ok ? accept(contractView(found.value)) : found
          ),
        closeOuts: ({ open, ...query }) =>
          Effect.gen(function* () {
            const states: ReadonlyArray<Condition> =
              open === undefined
                ? []
                : [{ column: "state", value: "DONE", ...(open ? { comparison: "<>" as const } : {}) }]
            const page = yield* whosePage(tools, "closeOuts", query, states)
            if (!page.ok) return page
            const { shown, end } = page.value
            return accept({ closeouts: yield* closeOutViews(shown), ...end })
          }),
        margin: (client) =>
          Effect.flatMap(findClient(host, sql, client), (found) =>
            found.ok ? margin.picture(found.value.partnerId, found.value.id) : Effect.succeed(found)
          )
      })
    })
  )
}
