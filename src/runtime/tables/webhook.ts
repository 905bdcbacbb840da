/** Events, their destinations, and the notification feed (doc 3, Webhook registration and delivery; D13, D14). */
import type { JsonObject } from "../../machines/shared/Json.ts"
import { type MachineRow, machineColumns, ofPartner, table } from "./Table.ts"

export interface EventRow {
  readonly partnerId: number
  /** Gap-free per partner, in commit order; assigned when the batch is written. */
  readonly seq: number
  readonly name: string
  readonly clientId: number | null
  readonly data: JsonObject
  readonly ts: number
}

export interface EndpointRow extends MachineRow<"webhookEndpoint"> {
  readonly partnerId: number
  readonly url: string
  readonly secret: string
  readonly createdAt: number
  readonly updatedAt: number
}

export interface DeliveryRow extends MachineRow<"webhookDelivery"> {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number | null
  readonly event: string
  readonly body: string
  readonly ts: number
  /** The time of the next attempt; in SENT and FAILED the end of the delivery (retention counts from it). */
  readonly nextAt: number
  /** The worker of the current attempt, and its start (business time): written only by the delivery workers. */
  readonly claimToken: string | null
  readonly claimedAt: number | null
}

export interface NotificationRow {
  readonly id: number
  readonly partnerId: number
  readonly clientId: number
  readonly kind: string
  readonly ref: string
  readonly ts: number
  readonly writtenAt: number
}

export const webhookTables = {
  events: table<EventRow>()({
    title: "event",
    machine: null,
    key: ["partnerId", "seq"],
    mode: "insert",
    columns: { partnerId: "id", seq: "id", name: "text", clientId: "id?", data: "json", ts: "id" }
  }),
  webhookEndpoints: table<EndpointRow>()({
    title: "webhook endpoint",
    machine: "webhookEndpoint",
    key: ["partnerId"],
    mode: "upsert",
    columns: {
      partnerId: "id",
      ...machineColumns,
      url: "text",
      secret: "sealedText",
      createdAt: "id",
      updatedAt: "id"
    },
    residence: ofPartner
  }),
  webhookDeliveries: table<DeliveryRow>()({
    title: "webhook delivery",
    machine: "webhookDelivery",
    // Version 2 added the end of a delivery with its partner; rows are unchanged. Version 3 added the list of
    // attempts.
    upcasters: [(row) => row, ({ state, context }) => ({ state, context: { ...(context as object), tries: [] } })],
    key: ["id"],
    mode: "upsert",
    columns: {
      id: "id",
      partnerId: "id",
      clientId: "id?",
      event: "text",
      ...machineColumns,
      body: "text",
      ts: "id",
      nextAt: "id",
      claimToken: "text?",
      claimedAt: "id?"
    },
    id: ["delivery", "hot"]
  }),
  notifications: table<NotificationRow>()({
    title: "notification",
    machine: null,
    key: ["id"],
    mode: "insert",
    columns: { id: "id", partnerId: "id", clientId: "id", kind: "text", ref: "text", ts: "id", writtenAt: "id" },
    id: ["notification", "hot"]
  })
}
