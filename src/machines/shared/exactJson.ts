/**
 * Parses JSON so that its numbers keep their digits. As JavaScript numbers, 1.10 and 12345678901234567890 would be printed with
 * other digits. Such a number becomes a raw JSON value, which `JSON.stringify` prints unchanged. All other numbers stay numbers
 * (doc 3, Endpoints).
 */

/** The compiler's library lacks the source of a number and raw JSON values. */
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown
const raw = JSON as typeof JSON & {
  rawJSON(text: string): RawNumber
  isRawJSON(value: unknown): value is RawNumber
}

interface RawNumber {
  readonly rawJSON: string
}

/** The value of a JSON text; `__proto__` members are dropped. Throws a SyntaxError where the text is not JSON. */
export const parseExact = (text: string): unknown =>
  parse(text, (key, value, { source }) => {
    if (key === "__proto__") return undefined
    return typeof value === "number" && source !== undefined && String(value) !== source ? raw.rawJSON(source) : value
  })

/** The digits of a number that `parseExact` made a raw JSON value; null for any other value. */
export const digitsOf = (value: unknown): string | null => (raw.isRawJSON(value) ? value.rawJSON : null)

/** Copies the kept digits of `written`, a result of `parseExact`, into `value`: the same text, parsed by another parser. */
export const restoreDigits = (value: unknown, written: unknown): void => {
  if (!isContainer(value) || !isContainer(written)) return
  for (const [name, member] of Object.entries(written)) {
    if (digitsOf(member) === null) restoreDigits(value[name], member)
    else if (Object.hasOwn(value, name)) value[name] = member
  }
}

const isContainer = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null
