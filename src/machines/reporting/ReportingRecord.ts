/**
 * The record that identifies a client in transaction reports: nationality, kind of identifier, identifier and full names. Built
 * from the onboarding data whenever name, birth date, citizenships, identification or tax residency change, so that a report
 * needs no further query. Source: F27; doc 1, Rules of POST /clients and PUT .../kyc 7; RTS 22 Article 6.
 */
import { Schema } from "effect"
import { eeaCountries } from "../shared/Country.ts"
import {
  concatIdentifier,
  type IdentifierScheme,
  identifierSchemes,
  schemesOf,
  tinIsIdentifier
} from "./identifierSchemes.ts"

export const ReportingRecord = Schema.Struct({
  nationality: Schema.String,
  /** The kind of the identifier. Null, like `identifier`, while the client has none that Annex II accepts. */
  scheme: Schema.NullOr(Schema.Literals(identifierSchemes)),
  identifier: Schema.NullOr(Schema.String),
  /** All first names in capitals, separated by commas (RTS 22 Annex I, table 2). */
  firstNames: Schema.String,
  surnames: Schema.String,
  /** YYYY-MM-DD. */
  dateOfBirth: Schema.String,
  /** False while an identifier is missing, so that the client can't be reported yet. */
  complete: Schema.Boolean,
  /** Unix ms. */
  builtAt: Schema.Int,
  /** The KYC package revision from which the record was built. */
  fromRevision: Schema.Int
})
export type ReportingRecord = typeof ReportingRecord.Type

/** The client's facts, in the form of the KYC sections, from which a record is built. */
export interface ReportingFacts {
  readonly citizenships: ReadonlyArray<string>
  readonly firstName: string
  readonly middleName?: string | null
  readonly lastName: string
  readonly dateOfBirth: string
  readonly identification: {
    readonly type: string
    readonly country_of_issuance: string
    readonly number: string
  }
  readonly taxResidencies: ReadonlyArray<{ readonly country: string; readonly tin?: string | null }>
}

/**
 * The alphabetically first EEA citizenship; without an EEA citizenship, the alphabetically first of all. Source: RTS 22
 * Article 6(3).
 */
export const reportingNationality = (citizenships: ReadonlyArray<string>): string => {
  const ordered = citizenships.toSorted()
  const chosen = ordered.find((code) => eeaCountries.has(code)) ?? ordered[0]
  if (chosen === undefined) throw new RangeError("A client has at least one citizenship.")
  return chosen
}

const plainNumber = (number: string): string => number.toUpperCase().replace(/[\s\p{Pd}]/gu, "")

/**
 * True if a TIN is the identifier of this scheme. A Polish TIN is either the PESEL (11 digits) or the NIP (10 digits);
 * Annex II accepts both, the PESEL first.
 */
const isTinOf = (scheme: IdentifierScheme, nationality: string, tin: string): boolean =>
  nationality !== "PL" || (scheme === "TAX_NUMBER") === (tin.length === 10)

const documentNumber = (facts: ReportingFacts, nationality: string, type: string): string | null => {
  const { identification } = facts
  const fits = identification.type === type && identification.country_of_issuance === nationality
  const number = fits ? plainNumber(identification.number) : ""
  return number === "" ? null : nationality + number
}

const tinNumber = (facts: ReportingFacts, nationality: string, scheme: IdentifierScheme): string | null => {
  if (!tinIsIdentifier.has(nationality)) return null
  const given = facts.taxResidencies.find((residency) => residency.country === nationality)?.tin
  const tin = plainNumber(given ?? "")
  return tin === "" || !isTinOf(scheme, nationality, tin) ? null : nationality + tin
}

const identifierBy = (facts: ReportingFacts, nationality: string, scheme: IdentifierScheme): string | null => {
  switch (scheme) {
    case "NATIONAL_NUMBER":
    case "TAX_NUMBER":
      return tinNumber(facts, nationality, scheme)
    case "PASSPORT":
      return documentNumber(facts, nationality, "passport")
    case "NATIONAL_ID":
      return documentNumber(facts, nationality, "national_id")
    case "INVESTOR_SHARE":
      // This kind of identifier can't be reported, because onboarding does not collect it.
      return null
    case "CONCAT":
      return concatIdentifier({
        nationality,
        dateOfBirth: facts.dateOfBirth,
        firstName: facts.firstName,
        surname: facts.lastName
      })
  }
}

/** Names in capitals as written; several names are separated by commas. */
const reportedNames = (names: string): string => names.toUpperCase().trim().split(/\s+/).join(",")

/**
 * Builds the record. `builtAt` Unix ms; `fromRevision` is the KYC revision of the facts. The record is incomplete when no
 * identifier that Annex II lists for the nationality is known.
 */
export const buildReportingRecord = (facts: ReportingFacts, builtAt: number, fromRevision: number): ReportingRecord => {
  const nationality = reportingNationality(facts.citizenships)
  let chosen: { readonly scheme: IdentifierScheme; readonly identifier: string } | null = null
  for (const scheme of schemesOf(nationality)) {
    const identifier = identifierBy(facts, nationality, scheme)
    if (identifier === null) continue
    chosen = { scheme, identifier }
    break
  }
  return {
    nationality,
    scheme: chosen?.scheme ?? null,
    identifier: chosen?.identifier ?? null,
    firstNames: reportedNames(`${facts.firstName} ${facts.middleName ?? ""}`),
    surnames: facts.lastName.toUpperCase().trim().replace(/\s+/g, " "),
    dateOfBirth: facts.dateOfBirth,
    complete: chosen !== null,
    builtAt,
    fromRevision
  }
}
