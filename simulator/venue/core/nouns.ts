/** The books of every noun of the venue: one line each. */
import { nounNames, type VenueNounName, venueNouns } from "../../../src/machines/venue/venueNouns.ts"
import type { NounBooks, NounParts } from "./NounBooks.ts"
import { swapBooks } from "./swapBooks.ts"

const books: { readonly [N in VenueNounName]: (parts: NounParts) => NounBooks<N> } = {
  swap: swapBooks
}

export interface NounOfVenue {
  readonly name: VenueNounName
  /** The member of an account with its objects. */
  readonly list: string
  readonly books: NounBooks<VenueNounName>
}

export const nounsOf = (parts: NounParts): ReadonlyArray<NounOfVenue> =>
  nounNames.map((name) => ({ name, list: venueNouns[name].list, books: books[name](parts) }))
