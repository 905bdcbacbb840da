/** Market data of one symbol, which can be stale while the venue is away (A2-01, A2-114). */
import { symbolParam } from "./Parameters.ts"
import { BadRequest, NotFound, VenueAway } from "./WireErrors.ts"

/** The query and the refusals of a route that reads one market. */
export const ofSymbol = { query: { symbol: symbolParam }, error: [BadRequest, NotFound, VenueAway] } as const

/** The sentence about stale figures, in the description of such a route. */
export const away =
  "While the venue is away the last figures are served until they are 10 seconds old, then the answer is 502."
