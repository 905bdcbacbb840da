/**
 * A projection of the open cases of all clients, changed by committed rows only. The table has no index of open cases,
 * and `queue` is polled every few seconds.
 */
import { Effect } from "effect"
import type { ActorHost, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../../ports/RowReads.ts"
import type { CaseRow } from "../../../tables/compliance.ts"
import { subscribe } from "../../../subscriptions.ts"

export type OpenCase = Pick<CaseRow, "id" | "partnerId" | "clientId" | "reason" | "openedAt">

/** The page size of the first read, in rows. */
const pageRows = 1_000

/** Reads the open cases once, then follows the commits. Memory holds at most one row per reason and client. */
export const openCases = (
  host: ActorHost["Service"],
  stored: RowReads["Service"]
): Effect.Effect<() => Iterable<OpenCase>, Unavailable> =>
  Effect.gen(function* () {
    const open = new Map<number, OpenCase>()
    /**
     * Ids of cases that were committed during the read. The page that holds such a case may have an older row of it, which
     * is then ignored.
     */
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
