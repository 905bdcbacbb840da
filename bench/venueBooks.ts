/** The books of a service's simulated venue, read and changed while the venue has ended. */
import { join } from "node:path"
import { Venue } from "../simulator/venue/core/Venue.ts"
import type { VenueState } from "../simulator/venue/core/VenueState.ts"
import { openBooks } from "../simulator/venue/server/books.ts"

/** Listeners of a venue without readers. */
export const silent = { event: () => undefined, market: () => undefined }

/** Passes the books to `work`, which returns the books to store (null: unchanged) and its result. */
export const withBooks = async <A>(
  dataDirectory: string,
  work: (state: VenueState) => readonly [VenueState | null, A]
): Promise<A> => {
  const directory = join(dataDirectory, "venue")
  const { venue, log } = await openBooks({ directory, seed: null, markets: null, print: () => undefined }, silent)
  try {
    const [next, answer] = work(venue.state())
    if (next !== null) {
      venue.become(Venue.restore(next, silent))
      await log.snapshot()
    }
    return answer
  } finally {
    await log.close()
  }
}

/** The venue knows our refs under the name of our database as a prefix. */
export const prefixOf = (state: VenueState, accountId: number): string => {
  const owner = state.accounts.find(({ id }) => id === accountId)?.name ?? ""
  return owner.slice(0, owner.indexOf(":") + 1)
}
