/** Pages over the rows of all clients, of one client or of one partner, for staff. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { accept, type Verdict } from "../../../../machines/shared/Refusal.ts"
import type { ActorHost, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../../ports/RowReads.ts"
import type { TableName, Tables } from "../../../tables/Catalogue.ts"
import { type Condition, cutPage, onePast, type PageCut, type PageQuery } from "../../../store/paging.ts"
import { findClient } from "../../account/findClient.ts"
import type { Directory } from "../../partners/Directory.ts"
import { ofPartners } from "../../account/listReads.ts"

/** Selects rows by owner; without members the rows of all owners. */
export interface Whose {
  /** The client by any name that `findClient` accepts. */
  readonly client?: string
  /** The partner by id or code. */
  readonly partner?: string
}

export interface PageTools {
  readonly host: ActorHost["Service"]
  readonly sql: PgClient.PgClient
  readonly stored: RowReads["Service"]
  readonly directory: Directory["Service"]
}

/** One page of a table with the columns client_id, partner_id and id. Refused if the client or the partner is unknown. */
export const whosePage = <T extends TableName>(
  { host, sql, stored, directory }: PageTools,
  table: T,
  { client, partner, ...query }: PageQuery & Whose,
  conditions: ReadonlyArray<Condition>
): Effect.Effect<Verdict<PageCut<Tables[T] & { readonly id: number }>>, Unavailable> =>
  Effect.gen(function* () {
    const found = client === undefined ? null : yield* findClient(host, sql, client)
    if (found?.ok === false) return found
    const ofOne = ofPartners(directory, partner)
    if (!ofOne.ok) return ofOne
    const whose = found === null ? [] : [{ column: "client_id", value: found.value.id }]
    const rows = yield* stored.page(table, [...whose, ...ofOne.value, ...conditions], onePast(query))
    return accept(cutPage(rows as ReadonlyArray<Tables[T] & { readonly id: number }>, query.limit, ({ id }) => id))
  })

/** The conditions that select rows in a state; none for undefined. */
export const inState = (state: string | undefined): ReadonlyArray<Condition> =>
  state === undefined ? [] : [{ column: "state", value: state }]
