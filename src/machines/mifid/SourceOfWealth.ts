/**
 * Block SOURCE_OF_WEALTH: where income, the funds to be invested and the whole wealth come from (doc 1, MiFID blocks;
 * A1-44).
 */
import * as Fields from "../shared/Fields.ts"
import { mifidLengths } from "../shared/Limits.ts"
import { checkOther } from "./otherText.ts"
import { fundsSources, incomeSources, wealthSources } from "./tokens.ts"

const known = { income: incomeSources, funds: fundsSources, wealth: wealthSources } as const
const listOf = (name: string) => `The list of sources of ${name}`
const sources = <const T extends readonly [string, ...string[]]>(name: string, tokens: T) =>
  Fields.listOf(Fields.token(`The source of ${name}`, tokens), listOf(name))
const other = (name: string) => Fields.optionalText(`The other source of ${name}`, mifidLengths.sourceOther)

/** Block SOURCE_OF_WEALTH as sent. */
export const SourceOfWealth = Fields.objectOf(
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
export type SourceOfWealth = typeof SourceOfWealth.Type

/** The rules a field alone cannot judge; removes texts without their token; paths are relative to the section. */
export const checkSourceOfWealth = (raw: Fields.JsonRecord, add: Fields.AddError): void => {
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
