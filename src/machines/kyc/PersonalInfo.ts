/**
 * Block PERSONAL_INFO: the client's identity and residence. The wire schema with its sentences, and the rules that need a
 * fact: age on the UTC date, no citizenship twice, no blocked residence (doc 1, kyc.personalInfo; A1-14, A1-17, A1-19).
 */
import { Schema } from "effect"
import { isAdultOn } from "../shared/CalendarDate.ts"
import { countryCodes } from "../shared/Country.ts"
import * as Fields from "../shared/Fields.ts"
import { kycLengths } from "../shared/Limits.ts"

export const Address = Fields.objectOf(
  {
    country: Fields.country("The country of residence"),
    street_name: Fields.text("The street name", kycLengths.streetName),
    number: Fields.optionalText("The house number", kycLengths.houseNumber),
    city: Fields.text("The city", kycLengths.city),
    state: Fields.optionalText("The state or region", kycLengths.state),
    postal_code: Fields.text("The postal code", kycLengths.postalCode)
  },
  "The residential address"
)
export type Address = typeof Address.Type

const citizenshipList = "The list of citizenships"

export const PersonalInfo = Fields.objectOf(
  {
    first_name: Fields.nameText("The first name", kycLengths.name),
    middle_name: Fields.optionalName("The middle name", kycLengths.name),
    last_name: Fields.nameText("The last name", kycLengths.name),
    date_of_birth: Fields.date("The date of birth", { from: 1900 }),
    country_of_birth: Fields.country("The country of birth"),
    citizenships: Fields.listOf(Fields.country("The citizenship"), citizenshipList),
    phone_country_code: Fields.shaped(
      "The phone country code",
      /^\+[0-9]{1,4}$/,
      "The phone country code must be a plus sign followed by 1 to 4 digits."
    ),
    phone_number: Fields.shaped("The phone number", /^[0-9]{4,15}$/, "The phone number must be 4 to 15 digits."),
    address: Address,
    utility_bill_document_id: Schema.optionalKey(Fields.documentId("The utility bill reference"))
  },
  "The personal information section"
)
export type PersonalInfo = typeof PersonalInfo.Type

/** Checks the rules between fields; paths are relative to the section. */
export const checkPersonalInfo = (raw: Fields.JsonRecord, facts: Fields.SectionFacts, add: Fields.AddError): void => {
  Fields.checkDocumentReference(raw, "utility_bill_document_id", facts, add)
  const birth = Fields.dateAt(raw, "date_of_birth")
  if (birth !== undefined && birth >= "1900" && !isAdultOn(birth, facts.today)) {
    add("date_of_birth", "The client must be at least 18 years old.")
  }
  Fields.limitList(raw, "citizenships", citizenshipList, countryCodes.size, add)
  if (Array.isArray(raw["citizenships"])) {
    Fields.eachDuplicate(raw["citizenships"], (index) =>
      add(`citizenships.${index}`, "The citizenship must not be named twice.")
    )
  }
  const address = raw["address"]
  if (Fields.isRecord(address) && facts.blockedJurisdictions.has(Fields.textAt(address, "country") ?? "")) {
    add("address.country", "Clients resident in this country cannot be onboarded.")
  }
}
