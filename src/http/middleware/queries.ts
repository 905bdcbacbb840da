// Query parameters of lists, judged by hand because "canonical decimal or refused" is stricter than a number schema;
// each bad parameter gets its own sentence (doc 1, Endpoints: 400 on a malformed paging value; A1-09).
import { parseId } from "../../machines/shared/Ids.ts"
import type { PageLimit } from "../../machines/shared/Limits.ts"
import { cleanText } from "../../machines/shared/Text.ts"

export type QueryErrors = Readonly<Record<string, string>>
export type ParsedQuery<A> =
  | { readonly ok: true; readonly query: A }
  | { readonly ok: false; readonly errors: QueryErrors }

/** Collects what a query string says and what is wrong with it. */
export class QueryReader {
  private readonly params: URLSearchParams
  private readonly errors: Record<string, string> = {}

  constructor(search: string) {
    this.params = new URLSearchParams(search)
  }

  /** Rows of a page: 1 to the list's maximum, its default when absent. */
  limit({ max, default: usual }: PageLimit): number {
    const text = this.once("limit")
    if (text === null) return usual
    const value = /^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : max + 1
    if (value > max) this.errors["limit"] = `The limit must be a whole number from 1 to ${max}.`
    return value
  }

  /** The cursor: only ids below it. */
  before(): { readonly before?: number } {
    const text = this.once("before")
    if (text === null) return {}
    const id = parseId(text)
    if (id !== undefined) return { before: id }
    this.errors["before"] = "The cursor before must be a positive whole number."
    return {}
  }

  /** A moment in Unix ms. */
  millis<const K extends string>(name: K): { readonly [P in K]?: number } {
    const text = this.once(name)
    if (text === null) return {}
    const value = /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN
    if (Number.isSafeInteger(value)) return { [name]: value } as { readonly [P in K]?: number }
    this.errors[name] = `The parameter ${name} must be a whole number of Unix milliseconds.`
    return {}
  }

  /** What names an object, as sent; null when absent. Nothing is wrong with it: what it names is unknown at worst. */
  name(name: string): string | null {
    const text = this.once(name)
    return text === null ? null : cleanText(text)
  }

  /** One of the given tokens, exact. */
  token<const K extends string, const T extends string>(name: K, tokens: ReadonlyArray<T>): { readonly [P in K]?: T } {
    const text = this.once(name)
    if (text === null) return {}
    const found = tokens.find((token) => token === text)
    if (found !== undefined) return { [name]: found } as { readonly [P in K]?: T }
    this.errors[name] = `The parameter ${name} must be one of: ${tokens.join(", ")}.`
    return {}
  }

  /** Free text as it is stored: trimmed, NFC (A1-14); empty counts as absent. The header limit alone bounds it. */
  text<const K extends string>(name: K): { readonly [P in K]?: string } {
    const text = cleanText(this.once(name) ?? "")
    if (text === "") return {}
    if (!text.includes("\0")) return { [name]: text } as { readonly [P in K]?: string }
    this.errors[name] = `The parameter ${name} must not contain U+0000.`
    return {}
  }

  /** The value together with the verdict on everything read so far. */
  finish<A>(query: A): ParsedQuery<A> {
    return Object.keys(this.errors).length === 0 ? { ok: true, query } : { ok: false, errors: this.errors }
  }

  private once(name: string): string | null {
    const values = this.params.getAll(name)
    if (values.length > 1) this.errors[name] = `The parameter ${name} must be sent once.`
    return values.length === 1 ? (values[0] ?? null) : null
  }
}
