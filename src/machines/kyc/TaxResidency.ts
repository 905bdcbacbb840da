/**
 * Block TAX_RESIDENCY: countries of tax residence with a tax number, or the reasons for having no number. Members that has_tin
 * makes irrelevant are ignored (doc 1, kyc.taxResidency; A1-20, A1-21, TIN-*).
 */
import { Schema } from "effect"
import { countryCodes } from "../shared/Country.ts"
import * as Fields from "../shared/Fields.ts"
import { kycLengths } from "../shared/Limits.ts"
import { cleanText, trimText } from "../shared/Text.ts"

export const noTinReasons = ["not_issued", "not_required", "pending", "other"] as const

/** A tax number without spaces and hyphens, in upper case. */
export const normaliseTin = (tin: string): string => trimText(tin).replace(/[ -]/g, "").toUpperCase()

/** 5 to 20 letters and digits once spaces and hyphens are removed; no national check digit. */
export const isTin = (tin: string): boolean => /^[A-Za-z0-9]{5,20}$/.test(trimText(tin).replace(/[ -]/g, ""))

const Tin = Schema.String.annotate({
  message: "The tax number must be text.",
  description: "Tax number, needed when has_tin is true: 5 to 20 letters and digits, spaces and dashes apart"
}).check(
  Schema.makeFilter((tin: string) => {
    if (cleanText(tin) === "") return "The tax number is required when has_tin is true."
    return isTin(tin)
      ? undefined
      : "The tax number must be 5 to 20 letters and digits once spaces and dashes are removed."
  })
)

const reasonList = "The list of reasons for having no tax number"

export const TaxResidence = Fields.objectOf(
  {
    country: Fields.country("The country of tax residence"),
    has_tin: Fields.flag("The has_tin answer"),
    tin: Schema.optionalKey(Tin),
    no_tin_reasons: Schema.optionalKey(
      Fields.listOf(Fields.token("The reason for having no tax number", noTinReasons), reasonList)
    ),
    no_tin_reason_other: Schema.optionalKey(
      Fields.text("The explanation of the other reason", kycLengths.noTinReasonOther)
    )
  },
  "The tax residency"
)
export type TaxResidence = typeof TaxResidence.Type

const residencyList = "The list of tax residencies"

export const TaxResidency = Fields.objectOf(
  { tax_residencies: Fields.listOf(TaxResidence, residencyList) },
  "The tax residency section"
)
export type TaxResidency = typeof TaxResidency.Type

/** Checks the rules between fields, and removes members that has_tin makes irrelevant. Paths are relative to the section. */
export const checkTaxResidency = (raw: Fields.JsonRecord, _facts: Fields.SectionFacts, add: Fields.AddError): void => {
  Fields.limitList(raw, "tax_residencies", residencyList, countryCodes.size, add)
  const list = raw["tax_residencies"]
  if (!Array.isArray(list)) return
  Fields.eachDuplicate(
    list.map((item) => (Fields.isRecord(item) ? item["country"] : undefined)),
    (index) => add(`tax_residencies.${index}.country`, "The country of tax residence must not be named twice.")
  )
  for (const [index, item] of list.entries()) {
    if (Fields.isRecord(item))
      checkResidence(item, (path, sentence) => add(`tax_residencies.${index}.${path}`, sentence))
  }
}

/** The section as stored: tax numbers stripped and in upper case. */
export const normaliseTaxResidency = (section: TaxResidency): TaxResidency => ({
  tax_residencies: section.tax_residencies.map((item) =>
    item.tin === undefined ? item : { ...item, tin: normaliseTin(item.tin) }
  )
})

const checkResidence = (item: Fields.JsonRecord, add: Fields.AddError): void => {
  if (item["has_tin"] !== true) delete item["tin"]
  else if (item["tin"] === undefined) add("tin", "The tax number is required when has_tin is true.")
  if (item["has_tin"] !== false) delete item["no_tin_reasons"]
  else if (item["no_tin_reasons"] === undefined) {
    add("no_tin_reasons", "At least one reason is required when has_tin is false.")
  }
  Fields.limitList(item, "no_tin_reasons", reasonList, noTinReasons.length, add)
  const reasons: readonly unknown[] = Array.isArray(item["no_tin_reasons"]) ? item["no_tin_reasons"] : []
  Fields.eachDuplicate(reasons, (index) =>
    add(`no_tin_reasons.${index}`, "The reason for having no tax number must not be named twice.")
  )
  if (!reasons.includes("other")) delete item["no_tin_reason_other"]
  else if (item["no_tin_reason_other"] === undefined) {
    add("no_tin_reason_other", "The explanation of the other reason is required.")
  }
}
