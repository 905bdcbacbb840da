/**
 * Texts for operators on the venue's controls: the reason why a command got no reply, and the form of a command in the
 * audit.
 */
import { conflict, type Refusal } from "../../../../machines/shared/Refusal.ts"
import { invalidWhole } from "../../../../machines/shared/RequestBody.ts"
import type { VenueCommand } from "../../../../venue/VenueCommand.ts"
import type { VenueControlError } from "../../../ports/VenueControl.ts"

export const venueRefusal = ({ why, detail }: VenueControlError): Refusal => {
  switch (why) {
    case "none":
      return { _tag: "NoVenue", sentence: "No venue is attached to this service." }
    case "unreached":
      return {
        _tag: "VenueAway",
        reason: "VENUE_UNREACHABLE",
        sentence: `The venue can't be reached (${detail}): nothing was done.`
      }
    case "closed":
      return {
        _tag: "VenueAway",
        reason: "VENUE_UNREACHABLE",
        sentence: `The venue takes nothing now (${detail}): nothing was done.`
      }
    case "lost":
      return {
        _tag: "VenueAway",
        reason: "OUTCOME_UNKNOWN",
        sentence: `The venue did not answer (${detail}), and may have done it: look at sim venue show before repeating the command.`
      }
    case "foreign":
      return conflict("FOREIGN_VENUE", `The venue is not a simulator that this service controls: ${detail}.`)
    case "refused":
      return invalidWhole("REFUSED_BY_SIMULATOR", `The venue refuses this: ${detail}`)
  }
}

/** Limit on the characters of an argument's value. A longer value is replaced by its length. */
const longest = 64

/** The arguments of a command as text, for example `symbol BTC-USDC-PERP, price 60000`. */
export const describeCommand = (command: VenueCommand): string =>
  Object.entries(command)
    .filter(([name, value]) => name !== "type" && value !== null)
    .map(([name, value]) => `${name} ${shown(value)}`)
    .join(", ")

const shown = (value: unknown): string => {
  if (Array.isArray(value)) return String(value.length)
  const text = String(value)
  return text.length <= longest && !text.includes("\n") ? text : `of ${text.length} characters`
}
