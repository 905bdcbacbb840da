/**
 * Block FATCA: whether the client is a US person, and then the US tax number in the shape of an SSN, an ITIN or an EIN. Only
 * the shape is checked, not a register (doc 1, kyc.fatca; A1-22, USTIN-*).
 */
import { Schema } from "effect"
import * as Fields from "../shared/Fields.ts"
import { cleanText, trimText } from "../shared/Text.ts"

/** EIN prefixes that the issuing authority has never assigned. */
const unissuedEinPrefixes: ReadonlySet<string> = new Set(
  "00 07 08 09 17 18 19 28 29 49 69 70 78 79 89 96 97".split(" ")
)

/** Whether nine digits have the shape of a social security number. */
export const isSsnShape = (digits: string): boolean =>
  /^[0-9]{9}$/.test(digits) && !/^(000|666|9)/.test(digits) && digits.slice(3, 5) !== "00" && digits.slice(5) !== "0000"

/** Whether nine digits have the shape of an individual taxpayer number: 9xx, group 50-65, 70-88, 90-92 or 94-99. */
export const isItinShape = (digits: string): boolean => {
  if (!/^9[0-9]{8}$/.test(digits)) return false
  const group = Number(digits.slice(3, 5))
  return (group >= 50 && group <= 65) || (group >= 70 && group <= 88) || (group >= 90 && group !== 93)
}

/** Whether nine digits have the shape of an employer number: an issued prefix. */
export const isEinShape = (digits: string): boolean =>
  /^[0-9]{9}$/.test(digits) && !unissuedEinPrefixes.has(digits.slice(0, 2))

/**
 * Whether the text is a US tax number. Dashes select the kind that is checked (NNN-NN-NNNN or NN-NNNNNNN); bare digits pass
 * when any of the three shapes fits.
 */
export const isUsTaxNumber = (value: string): boolean => {
  const written = trimText(value)
  const digits = written.replaceAll("-", "")
  if (/^[0-9]{3}-[0-9]{2}-[0-9]{4}$/.test(written)) return isSsnShape(digits) || isItinShape(digits)
  if (/^[0-9]{2}-[0-9]{7}$/.test(written)) return isEinShape(digits)
  return isSsnShape(written) || isItinShape(written) || isEinShape(written)
}

const UsTaxNumber = Schema.String.annotate({
  message: "The US tax number must be text.",
  description: "SSN, ITIN or EIN of nine digits, needed when us_person_status is true"
}).check(
  Schema.makeFilter((value: string) => {
    if (cleanText(value) === "") return "The US tax number is required for a US person."
    return isUsTaxNumber(value) ? undefined : "The US tax number must be a valid nine-digit SSN, ITIN or EIN."
  })
)

export const Fatca = Fields.objectOf(
  {
    us_person_status: Fields.flag("The US person answer"),
    ssn_itin: Schema.optionalKey(UsTaxNumber),
    w9_document_id: Schema.optionalKey(Fields.documentId("The W-9 reference"))
  },
  "The FATCA section"
)
export type Fatca = typeof Fatca.Type

/** Checks the rules between fields, and removes members that the flag makes irrelevant. Paths are relative to the section. */
export const checkFatca = (raw: Fields.JsonRecord, facts: Fields.SectionFacts, add: Fields.AddError): void => {
  Fields.checkDocumentReference(raw, "w9_document_id", facts, add)
  if (raw["us_person_status"] !== true) delete raw["ssn_itin"]
  else if (raw["ssn_itin"] === undefined) add("ssn_itin", "The US tax number is required for a US person.")
}

/** The section as stored: the US tax number as nine digits. */
export const normaliseFatca = (section: Fatca): Fatca =>
  section.ssn_itin === undefined ? section : { ...section, ssn_itin: trimText(section.ssn_itin).replaceAll("-", "") }
