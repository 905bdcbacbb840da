/**
 * The last decision on an object, shown to an operator whose decision came too late (operator surface, rules for every
 * command).
 */
import { orElse } from "./CliIo.ts"
import type { OperatorClient } from "./OperatorClient.ts"
import { shortPrints } from "./views/shortPrints.ts"
import { changeText } from "./views/stateText.ts"
import { text, time, type View, richText } from "./views/View.ts"

/** The last decision as text. Null when the audit has none or can't be read: the refusal is then shown without it. */
export const lastRuling = (api: OperatorClient, object: string): Promise<View | null> =>
  orElse(readRuling(api, object), null)

const readRuling = async (api: OperatorClient, object: string): Promise<View | null> => {
  const last = (await api.audit.tail({ query: { object, limit: 1 } })).data.entries.at(-1)
  if (last === undefined) return null
  const change = changeText(last)
  const why = last.reason === null ? "" : `: ${shortPrints(withoutRequester(last.reason))}`
  const what = String(change) === "" ? last.action : richText`${last.action}, ${change}`
  // The first audit row of an object is its creation and not a decision.
  const head = last.before === null ? "No decision yet" : "Last decision"
  return text(richText`${head}: ${what}, by ${last.role}/${last.keyLabel} at ${time(last.ts)}${why}`)
}

/** The reason without the argument hash and the requester's id, because the requester's label is shown beside it. */
const withoutRequester = (reason: string): string => reason.replace(/ [0-9a-f]{64} by \d+$/, "")
