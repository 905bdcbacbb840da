/**
 * The part of a tax year that a client's statement covers. It depends on the tax residencies in the client's KYC at the
 * ends of the years (A2-72, STS-26).
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { type Period, taxPeriod } from "../../../../machines/statement/statementPeriod.ts"
import { endWithin, partOfYear, type TaxYear, requestedYears } from "../../../../machines/statement/taxYears.ts"
import type { Sealing } from "../../../engine/sealing/Sealing.ts"
import { taxResidenciesAt } from "../../../store/reads/statementLists.ts"
import { cutOffBefore } from "../../../store/reads/statementReads.ts"
import { type Reading, reading } from "./Building.ts"

interface TaxTools {
  readonly sql: PgClient.PgClient
  readonly sealing: Sealing
}

/** True if the KYC accepted at that moment has a British tax residency of the client. */
export const isBritishAt = ({ sql, sealing }: TaxTools, clientId: number, moment: number): Reading<boolean> =>
  Effect.map(reading(taxResidenciesAt(sql, sealing, clientId, moment)), (countries) => countries.includes("GB"))

/** The part of a past tax year that a statement under its rule (British or not) covers; null: none. */
export const taxPartOf = (tools: TaxTools, clientId: number, taxYear: TaxYear): Reading<Period | null> =>
  Effect.gen(function* () {
    const middle = endWithin(taxYear)
    const atEnd = yield* isBritishAt(tools, clientId, taxPeriod(taxYear.year, taxYear.isBritish).to)
    const within = yield* isBritishAt(tools, clientId, middle)
    // Older postings are searched only if the residency changed within the year, because only then the result depends on them.
    const isBookedBefore = atEnd !== within && (yield* reading(cutOffBefore(tools.sql, clientId, middle))).postingId > 0
    return partOfYear(taxYear, { atEnd, within, isBookedBefore })
  })

/** The requested tax year, or without a request the last one; null: no possible year has ended. */
export const requestedTaxYear = (
  tools: TaxTools,
  clientId: number,
  requested: number | null,
  now: number
): Reading<(TaxYear & Period) | null> =>
  Effect.gen(function* () {
    for (const taxYear of requestedYears(requested, now)) {
      const part = yield* taxPartOf(tools, clientId, taxYear)
      if (part !== null) return { ...taxYear, ...part }
    }
    return null
  })
