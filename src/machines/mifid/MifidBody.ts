/**
 * The body of PUT .../mifid: all four sections, judged at once, every failing field named under mifid.<section>.<field>
 * (doc 1, MiFID blocks; A1-14, A1-27, A1-44). A null field counts as not sent; unknown fields are ignored (A1-01).
 */
import * as Fields from "../shared/Fields.ts"
import type { BlockCode } from "../verification/Blocks.ts"
import { AccountPurpose, checkAccountPurpose } from "./AccountPurpose.ts"
import { DeclarationsMifid } from "./DeclarationsMifid.ts"
import { checkEmploymentFinancial, EmploymentFinancial } from "./EmploymentFinancial.ts"
import { checkSourceOfWealth, SourceOfWealth } from "./SourceOfWealth.ts"

/** PUT .../mifid as sent; carries the OpenAPI description. */
export const MifidBody = Fields.objectOf(
  {
    accountPurpose: AccountPurpose,
    employmentFinancial: EmploymentFinancial,
    sourceOfWealth: SourceOfWealth,
    declarationsMifid: DeclarationsMifid
  },
  "The request body"
)

/** The section that fills each of the four blocks a partner writes, in the order blocks are listed. */
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
 * The four sections, cleaned: texts trimmed, and nothing in them that is ignored (A1-01, A1-44): of a person no more is
 * kept than was asked for. Doc 1 has data kept as received for the MiCA blocks alone.
 */
export type MifidBody = typeof MifidBody.Type

export type DecodedMifid =
  /** What the sealed payloads keep. */
  { readonly ok: true; readonly body: MifidBody } | { readonly ok: false; readonly errors: Fields.FieldErrors }

/** Containers between the body and a field. */
const bodyDepth = 2

const decodeBody = Fields.decoderOf(MifidBody)

/** Judges a body of PUT .../mifid; a body that is no object gives an empty map (A1-01). Never throws on a JSON value. */
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
