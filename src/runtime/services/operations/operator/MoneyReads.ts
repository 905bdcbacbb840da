/**
 * Collateral reports, settlement items, payments between the firms and postings for staff: of all clients, of one, or
 * of one partner. Partners see the same rows in the same form.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { PostingWire } from "../../../../machines/account/AccountWire.ts"
import type { CollateralReport } from "../../../../machines/collateral/CollateralReport.ts"
import type { InterfirmRecord } from "../../../../machines/settlement/SettlementFigures.ts"
import type { SettlementItem } from "../../../../machines/settlement/SettlementItem.ts"
import { accept, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { ActorHost, type Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { type Condition, cutPage, type PageEnd, type PageQuery } from "../../../store/paging.ts"
import { type BookedLeg, clientPostings, legsUnder, type PostingFilter } from "../../../store/reads/ledgerReads.ts"
import { whenAway } from "../../../store/whenAway.ts"
import { postingOf } from "../../account/Accounts.ts"
import { findClient } from "../../account/findClient.ts"
import { wireReport } from "../../money/collateral/CollateralReports.ts"
import { Directory } from "../../partners/Directory.ts"
import { wireInterfirm } from "../../money/settlement/interfirmWire.ts"
import { wireItem } from "../../money/settlement/settlementDecisions.ts"
import { inState, type Whose, whosePage } from "./whosePage.ts"

export interface MoneyQuery extends PageQuery, Whose {
  readonly status?: string
}

export type ItemView = SettlementItem & { readonly partnerId: number }

/** A posting with its account. Postings on house accounts have no client. */
export type LegView = PostingWire & Pick<BookedLeg, "account" | "clientId">

const legView = ({ account, clientId, ...posting }: BookedLeg): LegView => ({
  ...postingOf(posting),
  account,
  clientId
})

type Found<A> = Effect.Effect<Verdict<PageEnd & A>, Unavailable>

export class MoneyReads extends Context.Service<
  MoneyReads,
  {
    reports(query: MoneyQuery): Found<{ readonly reports: ReadonlyArray<CollateralReport> }>
    /** Settlement items. `since`: only those that occurred at this time or later, Unix ms. */
    items(query: MoneyQuery & { readonly since?: number }): Found<{ readonly items: ReadonlyArray<ItemView> }>
    settlements(
      query: PageQuery & Pick<Whose, "partner">
    ): Found<{ readonly settlements: ReadonlyArray<InterfirmRecord> }>
    /** One client's postings, newest first. */
    postings(
      client: string,
      query: PageQuery & Partial<PostingFilter>
    ): Found<{ readonly postings: ReadonlyArray<PostingWire> }>
    /** All legs of the transactions with these keys (depositMachine, withdrawalMachine), oldest first. */
    booked(keys: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<LegView>, Unavailable>
  }
>()("brokerage/runtime/services/operations/operator/MoneyReads") {
  static readonly layer = Layer.effect(
    MoneyReads,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const sql = yield* PgClient.PgClient
      const tools = { host, sql, stored: yield* RowReads, directory: yield* Directory }
      return MoneyReads.of({
        reports: ({ status, ...query }) =>
          Effect.map(whosePage(tools, "collateralReports", query, inState(status)), (page) =>
            page.ok ? accept({ reports: page.value.shown.map(wireReport), ...page.value.end }) : page
          ),
        items: ({ status, since, ...query }) => {
          const later: ReadonlyArray<Condition> =
            since === undefined ? [] : [{ column: "occurred_at", value: since, comparison: ">=" }]
          return Effect.map(whosePage(tools, "settlementItems", query, [...inState(status), ...later]), (page) =>
            page.ok
              ? accept({
                  items: page.value.shown.map((row) => ({ ...wireItem(row), partnerId: row.partnerId })),
                  ...page.value.end
                })
              : page
          )
        },
        settlements: (query) =>
          Effect.map(whosePage(tools, "interfirmRecords", query, []), (page) =>
            page.ok ? accept({ settlements: page.value.shown.map(wireInterfirm), ...page.value.end }) : page
          ),
        booked: (keys) => Effect.map(Effect.catch(legsUnder(sql, keys), whenAway), (legs) => legs.map(legView)),
        postings: (client, { limit, before, currency = null, type = null }) =>
          Effect.gen(function* () {
            const found = yield* findClient(host, sql, client)
            if (!found.ok) return found
            const read = clientPostings(sql, found.value.id, before, limit + 1, { currency, type })
            const { shown, end } = cutPage(yield* Effect.catch(read, whenAway), limit, (row) => row.postingId)
            return accept({ postings: shown.map(postingOf), ...end })
          })
      })
    })
  )
}
