/** Opens a client's account at the venue (A2-95). */
import { Effect } from "effect"
import type { VenueOutcome, VenueRequest } from "../../../machines/venue/venueCalls.ts"
import type { VenueUnanswered } from "../../ports/Venue.ts"

/** The members that every call's request has: its ref and its account. */
export type OfAccount = VenueRequest<"openAccount">

type Write = (request: OfAccount) => Effect.Effect<VenueOutcome, VenueUnanswered>

/**
 * Opens the account. EXECUTED: the account is open; a repeated call is harmless. The venue repeats its answer to a ref,
 * so a retry after a refusal (which may be temporary) uses another ref. `now`: wall time, Unix ms.
 */
export const openAccount = (
  write: Write,
  account: string,
  now: () => number
): Effect.Effect<VenueOutcome, VenueUnanswered> => {
  const ref = accountRef(account)
  return Effect.flatMap(write({ ref, account }), (outcome) =>
    outcome.outcome === "EXECUTED"
      ? Effect.succeed(outcome)
      : Effect.suspend(() => write({ ref: accountRef(account, now()), account }))
  )
}

/** The ref of the call that opens an account. It names no object of ours. `again`: the time of a retry, Unix ms. */
const accountRef = (account: string, again?: number): string =>
  again === undefined ? `U-${account}` : `U-${account}-${again}`
