/**
 * Block EMPLOYMENT_FINANCIAL: the client's work and means. Industry, position and employer are asked of those who work
 * and ignored of everybody else (doc 1, MiFID blocks; A1-44).
 */
import { Schema } from "effect"
import * as Fields from "../shared/Fields.ts"
import { mifidLengths } from "../shared/Limits.ts"
import { checkOther } from "./otherText.ts"
import {
  annualIncomes,
  employedStatuses,
  employmentStatuses,
  expectedDeposits,
  industries,
  netWorths,
  positions
} from "./tokens.ts"

/** Block EMPLOYMENT_FINANCIAL as sent. */
export const EmploymentFinancial = Fields.objectOf(
  {
    employment_status: Fields.token("The employment status", employmentStatuses),
    employment_status_other: Fields.optionalText("The other employment status", mifidLengths.employmentOther),
    industry: Schema.optionalKey(Fields.token("The industry", industries)),
    industry_other: Fields.optionalText("The other industry", mifidLengths.employmentOther),
    position: Schema.optionalKey(Fields.token("The position", positions)),
    position_other: Fields.optionalText("The other position", mifidLengths.employmentOther),
    employer_name: Fields.optionalName("The employer name", mifidLengths.employerName),
    annual_income: Fields.token("The annual income", annualIncomes),
    net_worth: Fields.token("The net worth", netWorths),
    expected_deposit_12m: Fields.token("The expected deposit", expectedDeposits)
  },
  "The employment and financial section"
)
export type EmploymentFinancial = typeof EmploymentFinancial.Type

const ofWork = [
  ["industry", "The industry"],
  ["position", "The position"],
  ["employer_name", "The employer name"]
] as const

/** The rules a field alone cannot judge; removes what the status makes irrelevant; paths are relative to the section. */
export const checkEmploymentFinancial = (raw: Fields.JsonRecord, add: Fields.AddError): void => {
  const status = raw["employment_status"]
  const works = (employedStatuses as ReadonlyArray<unknown>).includes(status)
  for (const [key, label] of ofWork) {
    if (!works) delete raw[key]
    else if (raw[key] === undefined || Fields.textAt(raw, key) === "") {
      delete raw[key]
      add(key, `${label} is required for this employment status.`)
    }
  }
  checkOther(raw, "employment_status_other", status === "other", "The other employment status", add)
  checkOther(raw, "industry_other", raw["industry"] === "other", "The other industry", add)
  checkOther(raw, "position_other", raw["position"] === "other", "The other position", add)
}
