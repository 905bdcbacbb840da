/**
 * Block PEP: the client's own public function and those of persons close to the client. Details sent while their flag
 * is false are ignored (doc 1, kyc.pep; A1-23).
 */
import { Schema } from "effect"
import { isAdultOn, isAfterDate } from "../shared/CalendarDate.ts"
import * as Fields from "../shared/Fields.ts"
import { kycLengths, kycListMax } from "../shared/Limits.ts"

export const publicPositions = [
  "head_of_state",
  "head_of_government",
  "minister",
  "deputy_or_assistant_minister",
  "member_of_parliament",
  "party_governing_body_member",
  "high_judicial_body_member",
  "auditors_or_central_bank_board",
  "ambassador_or_charge_daffaires",
  "high_ranking_armed_forces_officer",
  "state_owned_enterprise_body_member",
  "international_organisation_director",
  "mayor"
] as const

export const pepRelationships = [
  "spouse",
  "child",
  "son_daughter_in_law",
  "parent",
  "joint_beneficial_ownership",
  "other_close_business_relations",
  "sole_beneficial_ownership"
] as const

const functionFields = {
  position: Fields.token("The position", publicPositions),
  country: Fields.country("The country of the public function"),
  institution: Fields.nameText("The institution", kycLengths.institution),
  start_date: Fields.date("The start date", { from: 1900 }),
  end_date: Schema.optionalKey(Fields.date("The end date"))
}

export const PublicFunction = Fields.objectOf(functionFields, "The public function")
export type PublicFunction = typeof PublicFunction.Type

/** A person close to the client who holds a public function. */
export const Association = Fields.objectOf(
  {
    full_name: Fields.nameText("The full name", kycLengths.fullName),
    dob: Fields.date("The date of birth"),
    nationality: Fields.country("The nationality"),
    address: Fields.text("The address", kycLengths.associateAddress),
    ...functionFields,
    relationship: Fields.token("The relationship", pepRelationships)
  },
  "The association"
)
export type Association = typeof Association.Type

const associationList = "The list of associations"

export const Pep = Fields.objectOf(
  {
    is_pep: Fields.flag("The is_pep answer"),
    details: Schema.optionalKey(PublicFunction.annotate({ description: "Ignored unless is_pep is true." })),
    has_associations: Fields.flag("The has_associations answer"),
    associations: Schema.optionalKey(
      Fields.listOf(Association, associationList).annotate({ description: "Ignored unless has_associations is true." })
    )
  },
  "The PEP section"
)
export type Pep = typeof Pep.Type

/** Checks the rules between fields, and removes members that the flags make irrelevant. Paths are relative to the section. */
export const checkPep = (raw: Fields.JsonRecord, facts: Fields.SectionFacts, add: Fields.AddError): void => {
  if (raw["is_pep"] !== true) delete raw["details"]
  else if (raw["details"] === undefined) add("details", "The public function is required when is_pep is true.")
  if (raw["has_associations"] !== true) delete raw["associations"]
  else if (raw["associations"] === undefined) {
    add("associations", "At least one association is required when has_associations is true.")
  }
  Fields.limitList(raw, "associations", associationList, kycListMax.associations, add)
  if (Fields.isRecord(raw["details"])) checkFunction(raw["details"], facts, Fields.under("details", add))
  if (!Array.isArray(raw["associations"])) return
  for (const [index, item] of raw["associations"].entries()) {
    if (!Fields.isRecord(item)) continue
    const addItem = Fields.under(`associations.${index}`, add)
    checkFunction(item, facts, addItem)
    const birth = Fields.dateAt(item, "dob")
    if (birth !== undefined && !isAdultOn(birth, facts.today)) {
      addItem("dob", "The associated person must be at least 18 years old.")
    }
  }
}

const checkFunction = (raw: Fields.JsonRecord, facts: Fields.SectionFacts, add: Fields.AddError): void => {
  const start = Fields.dateAt(raw, "start_date")
  const end = Fields.dateAt(raw, "end_date")
  if (start !== undefined && isAfterDate(start, facts.today))
    add("start_date", "The start date must not be in the future.")
  if (start !== undefined && end !== undefined && isAfterDate(start, end)) {
    add("end_date", "The end date must not be before the start date.")
  }
}
