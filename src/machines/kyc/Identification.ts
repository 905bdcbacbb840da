/**
 * Block IDENTIFICATION: the identity document. Its expiry is compared with the UTC date of receipt, a fact outside the schema
 * (doc 1, kyc.identification; A1-19).
 */
import { Schema } from "effect"
import { isAfterDate } from "../shared/CalendarDate.ts"
import * as Fields from "../shared/Fields.ts"
import { kycLengths, kycListMax } from "../shared/Limits.ts"

export const identificationTypes = ["passport", "national_id", "drivers_license", "residence_permit"] as const

export const Identification = Fields.objectOf(
  {
    type: Fields.token("The document type", identificationTypes),
    country_of_issuance: Fields.country("The country of issuance"),
    number: Fields.text("The document number", kycLengths.documentNumber),
    expiration_date: Fields.date("The expiration date", { to: 2100 }),
    document_ids: Schema.optionalKey(
      Schema.Array(Fields.documentId("The document reference")).annotate({
        message: "The document references must be a list of document ids.",
        description: "Documents of this client; PUT .../kyc only"
      })
    )
  },
  "The identification section"
)
export type Identification = typeof Identification.Type

/** Checks the rules between fields; paths are relative to the section. */
export const checkIdentification = (raw: Fields.JsonRecord, facts: Fields.SectionFacts, add: Fields.AddError): void => {
  if (facts.documents !== "refused") {
    Fields.limitList(raw, "document_ids", "The list of document references", kycListMax.documentReferences, add)
  }
  Fields.checkDocumentReference(raw, "document_ids", facts, add)
  const expiry = Fields.dateAt(raw, "expiration_date")
  if (expiry !== undefined && !isAfterDate(expiry, facts.today)) {
    add("expiration_date", "The expiration date must be after today.")
  }
}
