/**
 * Block DECLARATIONS_MIFID: three statements the client has accepted, each of which must be true (doc 1, MiFID blocks).
 */
import * as Fields from "../shared/Fields.ts"

const declared = (name: string) => Fields.mustBeTrue(`The declaration ${name}`)

/** Block DECLARATIONS_MIFID as sent. */
export const DeclarationsMifid = Fields.objectOf(
  {
    order_execution_policy_consent: declared("order_execution_policy_consent"),
    complex_products_risk_acknowledged: declared("complex_products_risk_acknowledged"),
    client_categorisation_notice_acknowledged: declared("client_categorisation_notice_acknowledged")
  },
  "The MiFID declarations section"
)
export type DeclarationsMifid = typeof DeclarationsMifid.Type
