/**
 * The leverage field of an order or of a choice of leverage: a JSON integer, at least 1. The cap is checked per market
 * (A2-50, A2-51).
 */
import { Schema } from "effect"
import * as Fields from "../shared/Fields.ts"

export const leverageLabel = "The leverage"
const message = `${leverageLabel} must be a whole number of at least 1.`

export const leverageField = Schema.Number.annotate({ message, description: leverageLabel })
  .check(Schema.isInt({ message }), Schema.isGreaterThanOrEqualTo(1, { message }))
  .annotateKey(Fields.missing(leverageLabel))
