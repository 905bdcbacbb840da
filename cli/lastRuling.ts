/** Who did what to an object last: for whoever finds it decided already (operator surface, rules for every command). */
import { Effect } from "effect"
import type { OperatorClient } from "./OperatorClient.ts"
import { shortPrints } from "./views/shortPrints.ts"
import { text, time, type View, words } from "./views/View.ts"

/** Null when the audit has nothing of it, or can't be read now: the refusal stands without. */
export const lastRuling = (api: OperatorClient, object: string): Effect.Effect<View | null> =>
  api.audit.tail({ query: { object, limit: 1 } }).pipe(
    Effect.map(({ data }) => {
      const last = data.entries.at(-1)
      if (last === undefined) return null
      const change = [last.before, last.after].filter((state) => state !== null).join(" -> ")
      const why = last.reason === null ? "" : `: ${shortPrints(last.reason)}`
      const what = change === "" ? last.action : `${last.action}, ${change}`
      return text(words`Last decision: ${what}, by ${last.role}/${last.keyLabel} at ${time(last.ts)}${why}`)
    }),
    Effect.orElseSucceed(() => null)
  )
