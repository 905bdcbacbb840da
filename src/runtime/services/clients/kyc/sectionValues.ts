/**
 * Reads KYC sections, which are stored as received: names, birth date, citizenships, document and tax numbers, in the
 * normal form that the rules compare. The sections were validated before they were stored (doc 1, Rules of POST
 * /clients and PUT .../kyc 7; A1-10, A1-14, A1-33, F27).
 */
import type { Json } from "../../../../machines/shared/Json.ts"
import { normaliseTin } from "../../../../machines/kyc/TaxResidency.ts"
import type { PersonFacts } from "../../../../machines/kyc/personKey.ts"
import type { ReportingFacts } from "../../../../machines/reporting/ReportingRecord.ts"
import { isRecord, type JsonRecord } from "../../../../machines/shared/Fields.ts"
import { cleanText } from "../../../../machines/shared/Text.ts"
import { screenedPerson } from "../screening/rescreening.ts"

export interface PersonSections {
  readonly personalInfo: Json
  readonly identification: Json
  readonly taxResidency: Json
}

const record = (value: unknown): JsonRecord => (isRecord(value) ? value : {})
const text = (value: unknown): string => (typeof value === "string" ? cleanText(value) : "")

/** First, middle and last name joined by one space, NFC (A1-10). */
export const displayNameOf = (personalInfo: Json): string => {
  const { firstName, middleName, lastName } = screenedPerson(personalInfo)
  return [firstName, middleName, lastName].filter(Boolean).join(" ").normalize("NFC")
}

/** The facts that identify a person: first and last name, birth date, and number of the identity document (A1-28). */
export const personFacts = ({
  personalInfo,
  identification
}: Pick<PersonSections, "personalInfo" | "identification">): PersonFacts => {
  const { firstName, lastName, dob } = screenedPerson(personalInfo)
  return { firstName, lastName, dob: dob ?? "", documentNumber: text(record(identification)["number"]) }
}

/** True if names, birth date or the set of citizenships differ; the order of citizenships does not matter (A1-33). */
export const identityChanged = (before: Json, after: Json): boolean => {
  const identity = (personalInfo: Json) => {
    const { nationalities, ...rest } = screenedPerson(personalInfo)
    return JSON.stringify([rest, [...new Set(nationalities)].toSorted()])
  }
  return identity(before) !== identity(after)
}

/** The facts a transaction-reporting record is built from (F27). */
export const reportingFacts = ({ personalInfo, identification, taxResidency }: PersonSections): ReportingFacts => {
  const { firstName, middleName, lastName, dob, nationalities } = screenedPerson(personalInfo)
  const document = record(identification)
  const residencies = record(taxResidency)["tax_residencies"]
  return {
    citizenships: nationalities,
    firstName,
    middleName,
    lastName,
    dateOfBirth: dob ?? "",
    identification: {
      type: text(document["type"]),
      country_of_issuance: text(document["country_of_issuance"]),
      number: text(document["number"])
    },
    taxResidencies: (Array.isArray(residencies) ? residencies : []).map(taxResidenceOf)
  }
}

/** A tax residence from its stored item. The tax number is ignored if has_tin is false (A1-20). */
const taxResidenceOf = (item: unknown): ReportingFacts["taxResidencies"][number] => {
  const { country, has_tin, tin } = record(item)
  return { country: text(country), tin: has_tin === true && typeof tin === "string" ? normaliseTin(tin) : null }
}

/** The last day of the identity document as sent, YYYY-MM-DD. */
export const expirationOf = (identification: Json): string => text(record(identification)["expiration_date"])

/** The last day of the document behind the identity check; null when none was given. */
export const documentExpiryOf = (identityCheck: Json): string | null =>
  text(record(identityCheck)["documentExpiry"]) || null

/** The declarations that need a review by compliance, whatever the outcome of the screening (A1-28). */
export const declaredRisks = (pep: Json, attestation: Json) => {
  const { is_pep, has_associations } = record(pep)
  return {
    pep: is_pep === true || has_associations === true,
    high: record(attestation)["riskRating"] === "HIGH"
  }
}
