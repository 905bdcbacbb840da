/** The comparison of each noun that the service makes at the venue (venueNouns.ts): one line each. */
import { nounNames, type VenueNounName } from "../../../machines/venue/venueNouns.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { AnyComparison, NounDifference, SettlingParts } from "./NounComparison.ts"
import { swapComparison } from "./swapComparison.ts"

const comparisons: { readonly [N in VenueNounName]: AnyComparison } = {
  swap: swapComparison
}

export const comparedNouns: ReadonlyArray<AnyComparison> = nounNames.map((name) => comparisons[name])

/** Applies the chosen differences of each noun, which are in the order of `comparedNouns`. Returns a sentence for each alarm. */
export const settleNouns = (
  turn: Turn,
  parts: SettlingParts,
  nouns: ReadonlyArray<ReadonlyArray<NounDifference>>,
  isChosen: (difference: NounDifference) => boolean
): ReadonlyArray<string> =>
  comparedNouns.flatMap(({ settle }, at) => settle(turn, parts, (nouns[at] ?? []).filter(isChosen)))
