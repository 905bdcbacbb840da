/** Block ACCOUNT_PURPOSE: what the client wants the account for (doc 1, MiFID blocks; A1-44). */
import * as Fields from "../shared/Fields.ts"
import { mifidLengths } from "../shared/Limits.ts"
import { checkOther } from "./otherText.ts"
import { purposes } from "./tokens.ts"

/** Block ACCOUNT_PURPOSE as sent. */
export const AccountPurpose = Fields.objectOf(
  {
    primary_purpose: Fields.token("The primary purpose", purposes),
    primary_purpose_other: Fields.optionalText("The other purpose", mifidLengths.purposeOther)
  },
  "The account purpose section"
)
export type AccountPurpose = typeof AccountPurpose.Type

/** The rule a field alone cannot judge; removes what the purpose makes irrelevant; paths are relative to the section. */
export const checkAccountPurpose = (raw: Fields.JsonRecord, add: Fields.AddError): void =>
  checkOther(raw, "primary_purpose_other", raw["primary_purpose"] === "other", "The other purpose", add)
