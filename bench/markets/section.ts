/** The markets part of the report. */
import { millis, spread, table, whole } from "../markdown.ts"
import type { FeedFindings } from "./feedRounds.ts"
import { feedSection } from "./feedSection.ts"
import type { LostCallsFindings } from "./lostCalls.ts"
import type { StartsFindings } from "./starts.ts"

/** One field for each group of rows. */
export interface MarketFindings {
  readonly feed: FeedFindings
  readonly lost: LostCallsFindings
  readonly starts: StartsFindings
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

export const marketsSection = ({ feed, lost, starts }: MarketFindings): string =>
  [feedSection(feed), processTable(lost, starts)].join("\n\n")
