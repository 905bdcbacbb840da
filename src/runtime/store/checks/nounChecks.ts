/** The checks of each noun that the service makes at the venue (venueNouns.ts): one line each. */
import { nounNames, type VenueNounName } from "../../../machines/venue/venueNouns.ts"
import type { SqlCheck } from "./SqlCheck.ts"
import { heldBySwaps, swapChecks } from "./swapChecks.ts"

interface ChecksOfNoun {
  readonly checks: ReadonlyArray<SqlCheck>
  /** The rows (client_id, currency, amount) of the parts of clients' reserves that its objects hold, as a query. */
  readonly held: string
}

const ofNouns: { readonly [N in VenueNounName]: ChecksOfNoun } = {
  swap: { checks: swapChecks, held: heldBySwaps }
}

/** In the order in which `ledger verify` shows them. */
export const nounChecks = nounNames.flatMap((name) => ofNouns[name].checks)
export const heldByNouns = nounNames.map((name) => ofNouns[name].held)
