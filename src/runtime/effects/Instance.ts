/** Whom an object of a machine belongs to, and what audit rows call it. */
import type { Kind } from "../../machines/registry.ts"
import type { Turn } from "../engine/mailbox/ActorHost.ts"
import type { EndpointRow } from "../tables/webhook.ts"

/**
 * What an audit row names, as kind:id. A block is CLIENT:CODE; partner and reliance share the partner's id. Besides
 * the machines' objects there are some that no machine moves.
 */
export type ObjectName =
  `${Kind | "operatorKey" | "interfirmRecord" | "watchEntry" | "ledgerTransaction" | "document" | "questionnaire" | "quarantinedEvent"}:${string | number}`

/** Whom the emitting machine belongs to. Client fields are null on partner-level and system machines. */
export interface Instance {
  readonly partnerId: number | null
  readonly clientId: number | null
  /** The object whose effects these are; its audit rows name it. */
  readonly object?: ObjectName
  readonly clientUid?: string
  readonly partnerClientRef?: string
  /** Who holds the client's money: decides whether a posting makes a settlement item (doc 3). */
  readonly custodyModel?: "BROKER" | "PARTNER"
  /** The partner's webhook endpoint: deliveries are queued only while it is ACTIVE (doc 3). */
  readonly endpoint?: EndpointRow | null
  /** The transaction id a `ledger.post` is booked under, when the machine's event already named it. */
  readonly txId?: number
}

/** A client's turn, and whom what happens in it belongs to. */
export interface OwnedTurn {
  readonly turn: Turn
  readonly of: Instance
}
