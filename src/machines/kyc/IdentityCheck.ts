/**
 * The identity check that the partner performed: who verified the person, how and when. Its age and the two configured provider
 * tokens are facts outside the schema (doc 1, identityCheck; A1-26, DATE-003).
 */
import { Schema } from "effect"
import { isAfterDate, isInSeconds } from "../shared/CalendarDate.ts"
import * as Fields from "../shared/Fields.ts"
import { identityCheckLimits, kycLengths } from "../shared/Limits.ts"

export const identityMethods = ["video", "nfc", "document", "in_person"] as const

/** The two identity-provider tokens, unless the operator configures others. */
export const defaultIdentityProviders: readonly string[] = ["identity_provider_1", "identity_provider_2"]

export const IdentityCheck = Fields.objectOf(
  {
    provider: Schema.String.annotate({
      message: "The identity provider must be text.",
      description: "One of the two configured identity providers, manual or other"
    }).annotateKey(Fields.missing("The identity provider")),
    reference: Fields.optionalText("The reference of the identity check", kycLengths.identityReference),
    method: Fields.token("The verification method", identityMethods),
    verifiedAt: Fields.unixMillis("The time of verification"),
    documentType: Fields.optionalText("The document type", kycLengths.identityDocumentType),
    documentCountry: Schema.optionalKey(Fields.country("The document country")),
    documentExpiry: Schema.optionalKey(Fields.date("The document expiry"))
  },
  "The identity check"
)
export type IdentityCheck = typeof IdentityCheck.Type

/** Checks the rules that need a fact; paths are relative to the section. Both ends of the time window are inclusive. */
export const checkIdentityCheck = (raw: Fields.JsonRecord, facts: Fields.SectionFacts, add: Fields.AddError): void => {
  const provider = raw["provider"]
  const providers = [...facts.identityProviders, "manual", "other"]
  if (typeof provider === "string" && !providers.includes(provider)) {
    add("provider", `The identity provider must be one of: ${providers.join(", ")}.`)
  }
  const verifiedAt = raw["verifiedAt"]
  if (typeof verifiedAt === "number" && Number.isSafeInteger(verifiedAt) && verifiedAt > 0) {
    if (verifiedAt > facts.now + identityCheckLimits.skewMillis) {
      add("verifiedAt", "The time of verification must not be in the future.")
    } else if (isInSeconds(verifiedAt)) {
      add("verifiedAt", "The time of verification must be Unix milliseconds: this number is one of seconds.")
    } else if (verifiedAt < facts.now - identityCheckLimits.maxAgeMillis) {
      add("verifiedAt", "The identity check must not be older than 12 months (366 days).")
    }
  }
  const expiry = Fields.dateAt(raw, "documentExpiry")
  if (expiry !== undefined && !isAfterDate(expiry, facts.today)) {
    add("documentExpiry", "The document expiry must be after today.")
  }
}
