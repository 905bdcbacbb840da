/** Paged lists of objects of partners and their clients, newest first, by owner and state. */
import { Effect } from "effect"
import { accept, refuse, unknown, type Verdict } from "../../../machines/shared/Refusal.ts"
import type { ActorHost, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { TableName, Tables } from "../../tables/Catalogue.ts"
import { clientSubject, readersClient } from "./clientState.ts"
import type { Directory } from "../partners/Directory.ts"
import { type Condition, cutPage, onePast, type PageCut, type PageQuery } from "../../store/paging.ts"
import type { RowReads } from "../../ports/RowReads.ts"

/** One page of a table's rows; `status` keeps only rows in that state. */
export const rowPage = <T extends TableName>(
  stored: RowReads["Service"],
  table: T,
  conditions: ReadonlyArray<Condition>,
  { status, ...query }: PageQuery & { readonly status?: string },
  idOf: (row: Tables[T]) => number
): Effect.Effect<PageCut<Tables[T]>, Unavailable> => {
  const tests = status === undefined ? conditions : [...conditions, { column: "state", value: status }]
  return Effect.map(stored.page(table, tests, onePast(query)), (rows) => cutPage(rows, query.limit, idOf))
}

/** The conditions that select the rows of a partner, or of one client; null: that client is not the partner's. */
export const ofPartner = (
  host: ActorHost["Service"],
  partnerId: number,
  clientId: number | undefined
): Effect.Effect<ReadonlyArray<Condition> | null, Unavailable> =>
  clientId === undefined
    ? Effect.succeed([{ column: "partner_id", value: partnerId }])
    : host.read(clientSubject(clientId), (state) =>
        readersClient(state, partnerId) === null ? null : [{ column: "client_id", value: clientId }]
      )

/** The rows of all partners, or of the partner with this id or code. */
export const ofPartners = (
  directory: Directory["Service"],
  partner: string | undefined
): Verdict<ReadonlyArray<Condition>> => {
  if (partner === undefined) return accept([])
  const view = directory.findPartner(partner)
  return view === null ? refuse(unknown("Partner")) : accept([{ column: "partner_id", value: view.row.id }])
}
