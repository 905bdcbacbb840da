/**
 * What the schema's triggers write beside a commit, for the memory store: a row of the named table was changed. Those that
 * refuse rows are its checks, and the totals that some keep are sums which its readers make themselves.
 */
import { partnerClosedError } from "../../machines/webhook/Webhook.ts"
import type { CommitRows, TableName, Tables } from "./Catalogue.ts"
import type { DeliveryRow } from "./webhook.ts"

/** Deliveries that the commit which closes a partner ends; the rest is ended right after (migration 0023). */
export const endedByCommit = 20_000

/** The rows as they are with the commit in. */
export interface StoredRows {
  rows<T extends TableName>(table: T): ReadonlyArray<Tables[T]>
}

export const triggers: {
  readonly [T in TableName]?: (before: Tables[T], after: Tables[T], stored: StoredRows) => CommitRows
} = {
  partners: (before, after, stored) =>
    before.state !== "CLOSED" && after.state === "CLOSED"
      ? { webhookDeliveries: endedDeliveries(stored, after.id, after.context.changedAt) }
      : {}
}

const endedDeliveries = (stored: StoredRows, partnerId: number, at: number): ReadonlyArray<DeliveryRow> =>
  stored
    .rows("webhookDeliveries")
    .filter((row) => row.partnerId === partnerId && (row.state === "PENDING" || row.state === "RETRYING"))
    .toSorted((one, other) => one.nextAt - other.nextAt)
    .slice(0, endedByCommit)
    .map((row) => ({
      ...row,
      state: "FAILED",
      context: { ...row.context, error: partnerClosedError, nextAt: null },
      nextAt: at,
      claimToken: null,
      claimedAt: null
    }))
