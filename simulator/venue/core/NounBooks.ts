/**
 * The books of one noun in the venue (src/machines/venue/venueNouns.ts): its calls, its objects, and their work in time. Objects
 * have ids of their own. `VenueParts` implements `NounParts`; its parts are replaced when a state is restored.
 */
import type { NounCallName, NounObject, VenueNounName } from "../../../src/machines/venue/venueNouns.ts"
import type { Json } from "../../../src/machines/shared/Json.ts"
import type { Account } from "./Account.ts"
import type { Agenda } from "./Agenda.ts"
import type { Balances } from "./Balances.ts"
import type { Subject } from "./Refs.ts"
import type { VenueCall } from "./VenueInput.ts"
import type { WriterParts } from "./Writers.ts"

/** The result of a call: the object made or changed, and the reason of a refusal or null. */
export interface Answer {
  readonly refusal: string | null
  readonly subject: Subject
}
export const refused = (refusal: string, subject: Subject = {}): Answer => ({ refusal, subject })
export const executed = (subject: Subject): Answer => ({ refusal: null, subject })

export type CallHandlers<Name extends VenueCall["name"]> = {
  readonly [N in Name]: (request: Extract<VenueCall, { readonly name: N }>["request"], account: Account) => Answer
}

export interface NounParts extends WriterParts {
  readonly agenda: Agenda
  readonly balances: Balances
  accountOf(id: number): Account
  /** Publishes an object that has changed, to the reader of its account. */
  publishNoun<N extends VenueNounName>(noun: N, accountId: number, object: NounObject<N>): void
}

export interface NounBooks<N extends VenueNounName> {
  readonly calls: Partial<CallHandlers<NounCallName>>
  /** Null: the books no longer keep the object. */
  readonly shown: (id: number) => NounObject<N> | null
  /** The account's objects that have not ended. */
  readonly listed: (account: Account) => ReadonlyArray<NounObject<N>>
  readonly isLive: (id: number) => boolean
  /** Work that the agenda has for an object (`{ type: "noun" }`). */
  readonly fallDue?: (id: number) => void
  /** The objects for a snapshot; absent: the snapshot has members of its own for them. */
  readonly state?: () => Json
  readonly restore?: (state: Json) => void
}
