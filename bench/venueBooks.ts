/** The books of a service's simulated venue, read and changed while the venue has ended. */
import { join } from "node:path"
import { Venue } from "../simulator/venue/core/Venue.ts"
import type { VenueState } from "../simulator/venue/core/VenueState.ts"
import { openBooks } from "../simulator/venue/server/books.ts"

/** Of a venue that nobody listens to. */
export const silent = { event: () => undefined, market: () => undefined }

/** Gives the books to `work`, which answers the ones to go on with (null: the same) and what it has found. */
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

/** Names of ours are known at the venue behind the one that our database has there. */
export const prefixOf = (state: VenueState, accountId: number): string => {
  const owner = state.accounts.find(({ id }) => id === accountId)?.name ?? ""
  return owner.slice(0, owner.indexOf(":") + 1)
}
