/** The markets part of the report. */
import { millis, spread, table, whole } from "../markdown.ts"
import type { CoreFindings } from "./core.ts"
import type { FeedFindings } from "./feedRounds.ts"
import { feedSection } from "./feedSection.ts"
import type { LostCallsFindings } from "./lostCalls.ts"
import type { StartsFindings } from "./starts.ts"

/** One field for each group of rows. */
export interface MarketFindings {
  readonly core: CoreFindings
  readonly feed: FeedFindings
  readonly lost: LostCallsFindings
  readonly starts: StartsFindings
}

const coreTable = ({ venue, plain, peer, orders }: CoreFindings): string => {
  const ratio = (other: CoreFindings["peer"]): string => `${(venue.median / other.median).toFixed(1)} x`
  const rows = table(
    ["orders a second, one thread", "", "simulator is"],
    [
      ["simulator core", spread(venue, whole), ""],
      ["plain sorted arrays", spread(plain, whole), ratio(plain)],
      ["nodejs-order-book", spread(peer, whole), ratio(peer)]
    ]
  )
  return `${rows}\n\n${whole(orders)} limit orders and cancels a round; every book ended each round with the same levels. The simulator also checks grids and bands, nets accounts and says every event; the others do none of it.`
}

const seconds = (value: number): string => value.toFixed(2)

const processTable = ({ calls, ...lost }: LostCallsFindings, { withVenue, without }: StartsFindings): string =>
  table(
    ["figure", "value"],
    [
      ["calls in flight, their answers and events lost, when the service is killed", spread(calls, whole)],
      ["seconds from the next process's first answer until the end of each is known", spread(lost.seconds, seconds)],
      ["questions to the venue for that", spread(lost.lookups, whole)],
      ["start of a sandbox with its venue, ms", spread(withVenue, millis)],
      [
        "the same without",
        `${spread(without, millis)} (the venue adds ${millis(withVenue.median - without.median)} ms)`
      ]
    ]
  )

export const marketsSection = ({ core, feed, lost, starts }: MarketFindings): string =>
  [coreTable(core), feedSection(feed), processTable(lost, starts)].join("\n\n")
