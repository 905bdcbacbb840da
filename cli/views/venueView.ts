/** The simulated venue as text: its position, prices, dealers and faults (operator surface, sim venue show). */
import type { VenueCommandAnswer, VenueView } from "../../src/venue/VenueCommand.ts"
import { type Cell, fields, joined, stack, table, text, time, type View, richText } from "./View.ts"
import { plural } from "../../src/machines/shared/Text.ts"

export const venueView = ({ at, seed, number, startedAt, readers, markets, dealers, faults }: VenueView): View =>
  stack(
    fields({
      "business time": time(at),
      "last event": number,
      seed,
      "started at": time(startedAt),
      "connected to": readersText(readers)
    }),
    text(""),
    table(
      markets,
      {
        symbol: (row) => row.symbol,
        last: (row) => row.last,
        mark: (row) => row.mark,
        index: (row) => row.index,
        held: (row) => row.held.join(", "),
        path: (row) => (row.path ? "playing" : ""),
        state: (row) => (row.delisted ? "delisted" : row.halted ? "halted" : "")
      },
      "no markets"
    ),
    text(""),
    table(
      dealers,
      {
        dealer: (row) => row.name,
        mood: (row) => row.mood,
        latency: (row) => `${row.latencyMillis} ms`,
        validity: (row) => `${row.validityMillis} ms`
      },
      "no dealers"
    ),
    text(""),
    table(
      faults,
      {
        fault: (row) => row.kind,
        route: (row) => row.route,
        symbol: (row) => row.symbol,
        left: (row) => leftOf(row),
        struck: (row) => row.struck
      },
      "no faults"
    )
  )

const readersText = ({ events, marketData, subscriptions }: VenueView["readers"]): string =>
  `${events} of events, ${marketData} of market data (${plural(subscriptions, "subscription")})`

const leftOf = ({ until, timesLeft }: VenueView["faults"][number]): Cell =>
  timesLeft === null && until === null
    ? "until clear"
    : joined(
        [timesLeft === null ? null : plural(timesLeft, "time"), until === null ? null : richText`until ${time(until)}`],
        ", "
      )

type Answer = typeof VenueCommandAnswer.Type

/** The answer of a command: the change with the venue's reactions, the venue's position, and the id of the new object. */
export const commandView = (answer: Answer): View => {
  const { number, at, id, did } = answer
  const position = fields({ "last event": number, "business time": time(at), ...(id === null ? {} : { id }) })
  return did === null ? position : stack(text([did, ...reactions(answer)].join("; ")), text(""), position)
}

const reactions = ({ filled, triggered, cancelled, ended }: Answer): ReadonlyArray<string> =>
  [
    reaction(filled, "order", "filled"),
    reaction(triggered, "conditional order", "triggered"),
    reaction(cancelled, "order", "cancelled"),
    reaction(ended, "contract", "ended")
  ].flat()

/** The most objects that a sentence names. */
const namedHere = 5

const reaction = ({ count, first }: Answer["filled"] | Answer["ended"], noun: string, became: string) => {
  if (count === 0) return []
  const names = first.slice(0, namedHere).map(({ ref, id, state }) => `${ref ?? id} ${state}`)
  const others = count > names.length ? [`${count - names.length} more`] : []
  return [`${plural(count, noun)} ${became} (${[...names, ...others].join(", ")})`]
}
