/**
 * The body of PUT .../mifid. All four sections are checked at once, and every failing field is named as
 * mifid.<section>.<field>. A null field counts as not sent; unknown fields are ignored (doc 1, MiFID blocks; A1-14, A1-27,
 * A1-44, A1-01).
 */
import * as Fields from "../shared/Fields.ts"
import type { BlockCode } from "../verification/Blocks.ts"
import { Schema } from "effect"
import { mifidLengths } from "../shared/Limits.ts"
import { checkOther } from "./otherText.ts"
import {
  annualIncomes,
  employedStatuses,
  employmentStatuses,
  expectedDeposits,
  fundsSources,
  incomeSources,
  industries,
  netWorths,
  positions,
  purposes,
  wealthSources
} from "./tokens.ts"

/**
 * Block EMPLOYMENT_FINANCIAL as sent: work and means. Employed and self-employed clients must give industry, position and
 * employer; for others these members are ignored.
 */
const EmploymentFinancial = Fields.objectOf(
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

const ofWork = [
  ["industry", "The industry"],
  ["position", "The position"],
  ["employer_name", "The employer name"]
] as const

/** Checks the rules between fields, and removes members that the status makes irrelevant. Paths are relative to the section. */
const checkEmploymentFinancial = (raw: Fields.JsonRecord, add: Fields.AddError): void => {
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

const known = { income: incomeSources, funds: fundsSources, wealth: wealthSources } as const
const listOf = (name: string) => `The list of sources of ${name}`
const sources = <const T extends readonly [string, ...string[]]>(name: string, tokens: T) =>
  Fields.listOf(Fields.token(`The source of ${name}`, tokens), listOf(name))
const other = (name: string) => Fields.optionalText(`The other source of ${name}`, mifidLengths.sourceOther)

/** Block SOURCE_OF_WEALTH as sent: the origins of the income, of the funds to be invested, and of the whole wealth. */
const SourceOfWealth = Fields.objectOf(
  {
    income_sources: sources("income", known.income),
    income_source_other: other("income"),
    funds_sources: sources("funds", known.funds),
    funds_source_other: other("funds"),
    wealth_sources: sources("wealth", known.wealth),
    wealth_source_other: other("wealth")
  },
  "The source of wealth section"
)

/** Checks the rules between fields, and removes texts without their token. Paths are relative to the section. */
const checkSourceOfWealth = (raw: Fields.JsonRecord, add: Fields.AddError): void => {
  for (const name of ["income", "funds", "wealth"] as const) {
    Fields.limitList(raw, `${name}_sources`, listOf(name), known[name].length, add)
    const value = raw[`${name}_sources`]
    const list: ReadonlyArray<unknown> = Array.isArray(value) ? value : []
    Fields.eachDuplicate(list, (index) =>
      add(`${name}_sources.${index}`, `The source of ${name} must not be named twice.`)
    )
    checkOther(raw, `${name}_source_other`, list.includes("other"), `The other source of ${name}`, add)
  }
}

const AccountPurpose = Fields.objectOf(
  {
    primary_purpose: Fields.token("The primary purpose", purposes),
    primary_purpose_other: Fields.optionalText("The other purpose", mifidLengths.purposeOther)
  },
  "The account purpose section"
)

/** Checks the rule between fields, and removes members that the purpose makes irrelevant. Paths are relative to the section. */
const checkAccountPurpose = (raw: Fields.JsonRecord, add: Fields.AddError): void =>
  checkOther(raw, "primary_purpose_other", raw["primary_purpose"] === "other", "The other purpose", add)

const declared = (name: string) => Fields.mustBeTrue(`The declaration ${name}`)

/** Block DECLARATIONS_MIFID as sent: three statements that the client has accepted, each of which must be true. */
const DeclarationsMifid = Fields.objectOf(
  {
    order_execution_policy_consent: declared("order_execution_policy_consent"),
    complex_products_risk_acknowledged: declared("complex_products_risk_acknowledged"),
    client_categorisation_notice_acknowledged: declared("client_categorisation_notice_acknowledged")
  },
  "The MiFID declarations section"
)

/** The body of PUT .../mifid as sent; carries the OpenAPI description. */
export const MifidBody = Fields.objectOf(
  {
    accountPurpose: AccountPurpose,
    employmentFinancial: EmploymentFinancial,
    sourceOfWealth: SourceOfWealth,
    declarationsMifid: DeclarationsMifid
  },
  "The request body"
)

/** The section for each of the four blocks that a partner writes, in the order in which blocks are listed. */
export const mifidSections = {
  accountPurpose: "ACCOUNT_PURPOSE",
  employmentFinancial: "EMPLOYMENT_FINANCIAL",
  sourceOfWealth: "SOURCE_OF_WEALTH",
  declarationsMifid: "DECLARATIONS_MIFID"
} as const satisfies Readonly<Record<keyof typeof MifidBody.Type, BlockCode>>
export type MifidSection = keyof typeof mifidSections
export const mifidSectionNames = Object.keys(mifidSections) as ReadonlyArray<MifidSection>

const checks: Readonly<Record<MifidSection, (raw: Fields.JsonRecord, add: Fields.AddError) => void>> = {
  accountPurpose: checkAccountPurpose,
  employmentFinancial: checkEmploymentFinancial,
  sourceOfWealth: checkSourceOfWealth,
  declarationsMifid: () => {}
}

/**
 * The four sections, cleaned: texts are trimmed and ignored members removed, so that the service keeps no more personal data
 * than it requested. The specification requires data exactly as received for the MiCA blocks only.
 */
export type MifidBody = typeof MifidBody.Type

export type DecodedMifid =
  /** The payload to encrypt and store. */
  { readonly ok: true; readonly body: MifidBody } | { readonly ok: false; readonly errors: Fields.FieldErrors }

/** The number of levels from the body down to a field. */
const bodyDepth = 2

const decodeBody = Fields.decoderOf(MifidBody)

/** Checks a body of PUT .../mifid; a body that is no object gives an empty map. Never throws on a JSON value. */
export const decodeMifid = (body: unknown): DecodedMifid => {
  const errors: Fields.FieldErrors = {}
  if (!Fields.isRecord(body)) return { ok: false, errors }
  const add = Fields.under("mifid", (path, sentence) => {
    errors[path] ??= sentence
  })
  const raw = Fields.withoutNulls(body, bodyDepth) as Fields.JsonRecord
  Fields.dropBlanks(MifidBody, raw)
  for (const name of mifidSectionNames) {
    const section = raw[name]
    if (Fields.isRecord(section)) checks[name](section, Fields.under(name, add))
  }
  const decoded = decodeBody(raw, add)
  if (decoded === undefined || Object.keys(errors).length > 0) return { ok: false, errors }
  return { ok: true, body: Fields.cleanTexts(decoded) }
}
