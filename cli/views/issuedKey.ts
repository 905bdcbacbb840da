/** A new key. Only the answer that issues it shows it; a dry run issues none (operator surface, --dry-run). */
import { fields, stack, text, type View } from "./View.ts"

export interface IssuedKey {
  readonly key: string
  readonly prefix: string
}

export const issuedKeyView = <A extends IssuedKey>(issued: A): View => {
  const { key, prefix: _, ...rest } = issued
  return key.endsWith("(dry run)")
    ? fields(rest)
    : stack(fields(issued), text("Keep the key now: it is not shown again."))
}
