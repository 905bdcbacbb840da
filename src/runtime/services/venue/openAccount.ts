/** Opening a client's account at the venue, whoever needs it (A2-95). */
import { Effect } from "effect"
import type { VenueOutcome, VenueRequest } from "../../../machines/venue/venueCalls.ts"
import type { VenueUnanswered } from "../../ports/Venue.ts"

/** What the request of every call names: itself, and its account. */
export type OfAccount = VenueRequest<"openAccount">

type Write = (request: OfAccount) => Effect.Effect<VenueOutcome, VenueUnanswered>

/**
 * What the venue says of the account: EXECUTED once it has it, which costs nothing to ask again. The venue keeps to what it
 * has said of a ref, so after a refusal, which may have passed, it is asked under another one; `now`: wall time, Unix ms.
 */
export const openAccount = (
  write: Write,
  account: string,
  now: () => number
): Effect.Effect<VenueOutcome, VenueUnanswered> => {
  const ref = accountRef(account)
  return Effect.flatMap(write({ ref, account }), (said) =>
    said.outcome === "EXECUTED"
      ? Effect.succeed(said)
      : Effect.suspend(() => write({ ref: accountRef(account, now()), account }))
  )
}

/** The name of the call that opens an account: it is no object of ours. `again`: of one more try, Unix ms. */
const accountRef = (account: string, again?: number): string =>
  again === undefined ? `U-${account}` : `U-${account}-${again}`
