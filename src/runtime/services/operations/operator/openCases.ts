/**
 * A projection of the open cases of all clients: the table has no index of them, and `queue` is polled every few
 * seconds. Only committed rows change it.
 */
import { Effect } from "effect"
import type { ActorHost, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../../ports/RowReads.ts"
import type { CaseRow } from "../../../tables/compliance.ts"
import { subscribe } from "../../../subscriptions.ts"

export type OpenCase = Pick<CaseRow, "id" | "partnerId" | "clientId" | "reason" | "openedAt">

/** Rows per page of the first read. */
const pageRows = 1_000

/** Read once, then followed: it holds at most one row per reason and client. */
export const openCases = (
  host: ActorHost["Service"],
  stored: RowReads["Service"]
): Effect.Effect<() => Iterable<OpenCase>, Unavailable> =>
  Effect.gen(function* () {
    const open = new Map<number, OpenCase>()
    /** A case committed while the pages are read is newer than its page. */
    const followed = new Set<number>()
    const put = ({ id, partnerId, clientId, reason, openedAt }: CaseRow): void =>
      void open.set(id, { id, partnerId, clientId, reason, openedAt })
    let reading = true
    subscribe(host, "openCases", {
      cases: (row) => {
        if (reading) followed.add(row.id)
        if (row.state === "OPEN") put(row)
        else open.delete(row.id)
      }
    })
    for (let before: number | undefined; ;) {
      const rows = yield* stored.page("cases", [{ column: "state", value: "OPEN" }], {
        limit: pageRows,
        ...(before === undefined ? {} : { before })
      })
      for (const row of rows) if (!followed.has(row.id)) put(row)
      before = rows.at(-1)?.id
      if (rows.length < pageRows || before === undefined) break
    }
    reading = false
    followed.clear()
    return () => open.values()
  })
