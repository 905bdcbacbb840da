/** The free text beside a token `other`: required with it, ignored without it (doc 1, MiFID blocks; A1-44). */
import { type AddError, type JsonRecord, textAt } from "../shared/Fields.ts"

/** Removes the text when `other` was not chosen; adds an error when it is missing. Empty text counts as not sent. */
export const checkOther = (raw: JsonRecord, key: string, chosen: boolean, label: string, add: AddError): void => {
  if (!chosen) delete raw[key]
  else if (raw[key] === undefined || textAt(raw, key) === "") {
    delete raw[key]
    add(key, `${label} is required when other is chosen.`)
  }
}
