/** The contracts part of the report. */
import { millis, spread, table, whole } from "../markdown.ts"
import type { EventFlowFindings } from "./eventFlow.ts"
import type { MassEndFindings } from "./massEnd.ts"
import { massEndSection } from "./massEndSection.ts"
import type { OpeningFindings } from "./openingRounds.ts"
import { openingSection } from "./openingSection.ts"

/** One field for each group of rows. */
export interface ContractFindings {
  readonly flow: EventFlowFindings
  readonly ends: MassEndFindings
  readonly openings: OpeningFindings
}

export const contractsSection = ({ flow, ends, openings }: ContractFindings): string =>
  [openingSection(openings), massEndSection(ends), flowSection(flow)].join("\n\n")

const flowSection = (flow: EventFlowFindings): string => {
  const { callers, grouped, mixed, alone, beside, flushes, rowsEach } = flow
  const rates = table(
    ["bookings a second", ""],
    [
      ["64 callers in a closed loop", spread(callers, whole)],
      ["events of the venue, account by account", spread(grouped, whole)],
      ["events of the venue, accounts mixed", spread(mixed, whole)]
    ]
  )
  const waits = table(
    ["a caller waits, ms", "p50", "p99", "longest"],
    [
      ["alone", millis(alone.p50), millis(alone.p99), millis(alone.max)],
      ["while events flow", millis(beside.p50), millis(beside.p99), millis(beside.max)]
    ]
  )
  const flushed = table(
    ["rows submitted at once", "ms until all are in"],
    flushes.map((flush) => [whole(flush.rows), spread(flush.millis, millis)])
  )
  return [rates, waits, flushed, `Without HTTP; a booking is ${rowsEach} rows.`].join("\n\n")
}
