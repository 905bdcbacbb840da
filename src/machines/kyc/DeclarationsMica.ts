/**
 * Block DECLARATIONS_MICA: fourteen statements that the client has accepted, each of which must be true, and the time of
 * acceptance (doc 1, kyc.declarationsMica; A1-24).
 */
import * as Fields from "../shared/Fields.ts"

const declared = (name: string) => Fields.mustBeTrue(`The declaration ${name}`)

export const DeclarationsMica = Fields.objectOf(
  {
    fatca_crs_accurate: declared("fatca_crs_accurate"),
    fatca_crs_responsible: declared("fatca_crs_responsible"),
    fatca_crs_notify_changes: declared("fatca_crs_notify_changes"),
    fatca_crs_disclosure: declared("fatca_crs_disclosure"),
    fatca_crs_consequences: declared("fatca_crs_consequences"),
    accept_legal_docs: declared("accept_legal_docs"),
    accuracy_of_info: declared("accuracy_of_info"),
    market_conduct: declared("market_conduct"),
    aml_compliance: declared("aml_compliance"),
    recording_consent: declared("recording_consent"),
    data_protection: declared("data_protection"),
    notify_changes: declared("notify_changes"),
    cooperate_authorities: declared("cooperate_authorities"),
    authorised_client: declared("authorised_client"),
    acceptedAt: Fields.unixMillis("The time of acceptance")
  },
  "The declarations section"
)
export type DeclarationsMica = typeof DeclarationsMica.Type
