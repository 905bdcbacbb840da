/** The refusal of a command that needs an answer of the venue, if the venue did not answer. */
import { refuse, type Verdict } from "../../../machines/shared/Refusal.ts"
import { noVenue, type VenueUnanswered } from "../../ports/Venue.ts"

export const venueAway = ({ reason }: VenueUnanswered): Verdict<never> =>
  reason === noVenue.reason
    ? refuse({ _tag: "NoVenue", sentence: "No venue is attached to this service." })
    : refuse({
        _tag: "VenueAway",
        reason: "VENUE_UNREACHABLE",
        sentence: `The venue does not answer (${reason}): nothing was done.`
      })
