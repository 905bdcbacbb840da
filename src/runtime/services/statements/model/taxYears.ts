/** Which part of a tax year a client's statement has, by the residencies that its KYC said at the ends of years (A2-72, STS-26). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { type Period, taxPeriod } from "../../../../machines/statement/statementPeriod.ts"
import { endWithin, partOfYear, type TaxYear, yearsAsked } from "../../../../machines/statement/taxYears.ts"
import type { Sealing } from "../../../engine/sealing/Sealing.ts"
import { taxResidenciesAt } from "../../../store/reads/statementLists.ts"
import { cutBefore } from "../../../store/reads/statementReads.ts"
import { type Reading, reading } from "./Building.ts"

interface TaxTools {
  readonly sql: PgClient.PgClient
  readonly sealing: Sealing
}

/** Whether a tax residency of the client is British in the KYC that stood accepted at a moment. */
export const isBritishAt = ({ sql, sealing }: TaxTools, clientId: number, moment: number): Reading<boolean> =>
  Effect.map(reading(taxResidenciesAt(sql, sealing, clientId, moment)), (countries) => countries.includes("GB"))

/** The part of a year that has ended which a statement by its rule is of; null: there is none. */
export const taxPartOf = (tools: TaxTools, clientId: number, taxYear: TaxYear): Reading<Period | null> =>
  Effect.gen(function* () {
    const middle = endWithin(taxYear)
    const atEnd = yield* isBritishAt(tools, clientId, taxPeriod(taxYear.year, taxYear.isBritish).to)
    const within = yield* isBritishAt(tools, clientId, middle)
    // Asked only where it decides: where the residency changed within the year.
    const isBookedBefore = atEnd !== within && (yield* reading(cutBefore(tools.sql, clientId, middle))).postingId > 0
    return partOfYear(taxYear, { atEnd, within, isBookedBefore })
  })

/** What a request for a year, or for the last one, is answered with; null: none that it may mean has ended. */
export const taxYearAsked = (
  tools: TaxTools,
  clientId: number,
  asked: number | null,
  now: number
): Reading<(TaxYear & Period) | null> =>
  Effect.gen(function* () {
    for (const taxYear of yearsAsked(asked, now)) {
      const part = yield* taxPartOf(tools, clientId, taxYear)
      if (part !== null) return { ...taxYear, ...part }
    }
    return null
  })
