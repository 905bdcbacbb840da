/** Who did what to an object last: for whoever finds it decided already (operator surface, rules for every command). */
import { Effect } from "effect"
import type { OperatorClient } from "./OperatorClient.ts"
import { shortPrints } from "./views/shortPrints.ts"
import { stateWords } from "./views/stateWords.ts"
import { text, time, type View, words } from "./views/View.ts"

/** Null when the audit has nothing of it, or can't be read now: the refusal stands without. */
export const lastRuling = (api: OperatorClient, object: string): Effect.Effect<View | null> =>
  api.audit.tail({ query: { object, limit: 1 } }).pipe(
    Effect.map(({ data }) => {
      const last = data.entries.at(-1)
      if (last === undefined) return null
      const change = [last.before, last.after].filter((state) => state !== null).join(" -> ")
      const why = last.reason === null ? "" : `: ${shortPrints(withoutAsker(last.reason))}`
      const what = change === "" ? last.action : words`${last.action}, ${stateWords(change)}`
      // What has only begun was decided by nobody yet.
      const head = last.before === null ? "Nobody has decided it yet" : "Last decision"
      return text(words`${head}: ${what}, by ${last.role}/${last.keyLabel} at ${time(last.ts)}${why}`)
    }),
    Effect.orElseSucceed(() => null)
  )

/** The note of a request for four eyes names the fingerprint of its arguments and its asker by id, who is named by label beside it. */
const withoutAsker = (reason: string): string => reason.replace(/ [0-9a-f]{64} by \d+$/, "")
