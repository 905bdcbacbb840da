/** The comparison of one noun with the venue, as VenueComparison runs it over two passes (A2-103). */
import type { Effect } from "effect"
import type { VenueAccount } from "../../../machines/venue/venueObjects.ts"
import type { Turn, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import type { Venue, VenueUnanswered } from "../../ports/Venue.ts"
import type { ClientRow } from "../../tables/client.ts"
import type { Recall } from "../account/Recall.ts"
import type { Directory } from "../partners/Directory.ts"

/** Service and venue differ in an object of a noun. */
export interface NounDifference<What = unknown> {
  /** Unique alarm key. */
  readonly claim: string
  readonly what: What
}

export interface ComparedSides {
  readonly stored: RowReads["Service"]
  /** Its `lookup` takes any number of refs. The result lacks objects whose lookup is not answered: they are not compared. */
  readonly venue: Venue["Service"]
}

export interface SettlingParts {
  readonly directory: Directory["Service"]
  readonly recall: Recall
}

export interface NounComparison<What> {
  /** Reads both sides of one client, without a turn. `account`: the venue's view; null: the venue has no such account. */
  readonly find: (
    sides: ComparedSides,
    client: ClientRow,
    account: VenueAccount | null
  ) => Effect.Effect<ReadonlyArray<NounDifference<What>>, Unavailable | VenueUnanswered>
  /** Applies the venue's progress in the client's turn, and opens breaks for the rest. Returns a sentence for each alarm. */
  readonly settle: (
    turn: Turn,
    parts: SettlingParts,
    differences: ReadonlyArray<NounDifference<What>>
  ) => ReadonlyArray<string>
}

/** The comparison without the type of its differences, which only the comparison itself reads. */
export type AnyComparison = NounComparison<unknown>

export const comparisonOf = <What>(comparison: NounComparison<What>): AnyComparison => comparison as AnyComparison
