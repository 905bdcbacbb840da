/** The free text beside a token `other`: required with it, ignored without it (doc 1, MiFID blocks; A1-44). */
import { type AddError, type JsonRecord, textAt } from "../shared/Fields.ts"

/**
 * Checks the free text of a token `other`. Removes the text if `other` was not chosen; adds an error if it was chosen
 * without a text. Empty text counts as not sent.
 */
export const checkOther = (raw: JsonRecord, key: string, chosen: boolean, label: string, add: AddError): void => {
  if (!chosen) delete raw[key]
  else if (raw[key] === undefined || textAt(raw, key) === "") {
    delete raw[key]
    add(key, `${label} is required when other is chosen.`)
  }
}
