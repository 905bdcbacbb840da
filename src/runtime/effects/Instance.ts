/** The owner of a machine's object, and its name in audit rows. */
import type { Kind } from "../../machines/registry.ts"
import type { Turn } from "../engine/mailbox/ActorHost.ts"
import type { EndpointRow } from "../tables/webhook.ts"

/**
 * The name of an object in audit rows, as kind:id. A block is CLIENT:CODE; partner and reliance share the partner's id. Some
 * objects have no machine.
 */
export type ObjectName =
  `${Kind | "operatorKey" | "interfirmRecord" | "watchEntry" | "ledgerTransaction" | "document" | "questionnaire" | "quarantinedEvent"}:${string | number}`

/** The owner of the emitting machine. Client fields are null on partner-level and system machines. */
export interface Instance {
  readonly partnerId: number | null
  readonly clientId: number | null
  /** The object that emits the effects; its audit rows name it. */
  readonly object?: ObjectName
  readonly clientUid?: string
  readonly partnerClientRef?: string
  /** The holder of the client's money: decides whether a posting makes a settlement item (doc 3). */
  readonly custodyModel?: "BROKER" | "PARTNER"
  /** The partner's webhook endpoint: deliveries are queued only while it is ACTIVE (doc 3). */
  readonly endpoint?: EndpointRow | null
  /** The transaction id of a `ledger.post`, if the machine's event already contains it. */
  readonly txId?: number
}

/** A client's turn, and the owner of its rows. */
export interface OwnedTurn {
  readonly turn: Turn
  readonly of: Instance
}
