/**
 * The partner's attestation that it performed customer due diligence and can hand over the documents: the basis of reliance.
 * Times are stored as sent, without a window (doc 1, attestation; A1-25).
 */
import * as Fields from "../shared/Fields.ts"
import { kycLengths } from "../shared/Limits.ts"

export const riskRatings = ["LOW", "MEDIUM", "HIGH"] as const

export const AttestedScreening = Fields.objectOf(
  {
    sanctionsClear: Fields.mustBeTrue("The sanctionsClear answer"),
    pepChecked: Fields.flag("The pepChecked answer"),
    adverseMediaChecked: Fields.flag("The adverseMediaChecked answer"),
    screenedAt: Fields.unixMillis("The time of screening"),
    provider: Fields.optionalText("The screening provider", kycLengths.screeningProvider)
  },
  "The screening statement"
)
export type AttestedScreening = typeof AttestedScreening.Type

export const Attestation = Fields.objectOf(
  {
    cddPerformedAt: Fields.unixMillis("The time of due diligence"),
    cddStandard: Fields.text("The due diligence standard", kycLengths.cddStandard),
    screening: AttestedScreening,
    riskRating: Fields.token("The risk rating", riskRatings),
    attestedBy: Fields.nameText("The name of the attesting person", kycLengths.attestedBy),
    documentsAvailableOnRequest: Fields.mustBeTrue("The documentsAvailableOnRequest answer")
  },
  "The attestation"
)
export type Attestation = typeof Attestation.Type
