/**
 * The writes of the schema's triggers, for the memory store. The other triggers need no entry here: the store's own checks
 * refuse the same rows, and its readers compute the totals that triggers keep in Postgres.
 */
import { partnerClosedError } from "../../machines/webhook/Webhook.ts"
import type { CommitRows, TableName, Tables } from "./Catalogue.ts"
import type { DeliveryRow } from "./webhook.ts"

/**
 * The most deliveries that the commit of a partner's close ends (trigger `partner_closed`). The service ends further ones right
 * after.
 */
export const endedByCommit = 20_000

/** The rows after the commit. */
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
