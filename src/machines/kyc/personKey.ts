/**
 * Recognises the same person at any partner and in any spelling of the names. A person has several keys: the birth date with
 * the document number, and the birth date with each spelling of the names. The client's row stores keyed hashes of them,
 * which reveal no personal data (doc 1, Rules of POST /clients and PUT .../kyc 4; A1-28).
 */
import { nameTokens } from "../screening/foldName.ts"
import { weighty } from "../screening/nameForms.ts"
import { transliterate } from "../screening/Transliteration.ts"

/** The facts that identify a person. The middle name is not one of them. */
export interface PersonFacts {
  readonly firstName: string
  readonly lastName: string
  /** The birth date, YYYY-MM-DD. */
  readonly dob: string
  readonly documentNumber: string
}

/**
 * Separates old keys from current ones in sort order. Keys of earlier versions are hexadecimal digits and sort before this
 * text; current keys start with a prefix and sort after it.
 */
export const firstPersonKey = "g"

const number = "number:"
const names = "names:"

/** All keys of a person, separated by spaces. `hash` returns a keyed hash in hexadecimal digits. */
export const personKeyOf = (facts: PersonFacts, hash: (text: string) => string): string => {
  const { dob, documentNumber } = facts
  const letters = transliterate(documentNumber).replace(/[^\p{L}\p{N}]/gu, "")
  const keys = [
    ...(letters === "" ? [] : [number + hash(["number", dob, letters].join("\u0000"))]),
    ...spellings(facts).map((pair) => names + hash(["names", dob, pair].join("\u0000")))
  ]
  return keys.length === 0 ? "nothing" : keys.join(" ")
}

/**
 * First and last name in either order, each in full and by its first word. Partners write a second given name into the first
 * name, into its own field, or nowhere. Spaces and hyphens within a name do not count.
 */
const spellings = ({ firstName, lastName }: PersonFacts): ReadonlyArray<string> => {
  const [first, last] = [firstName, lastName].map(nameTokens).map(wholeAndShort)
  const pairs = (first ?? []).flatMap((one) => (last ?? []).map((other) => [one, other].toSorted().join("\u0000")))
  return [...new Set(pairs)].filter((pair) => pair !== "\u0000")
}

const wholeAndShort = (words: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set([words.join(""), weighty(words)[0] ?? ""])
]

const keysOf = (personKey: string, kind = ""): ReadonlyArray<string> =>
  personKey.split(" ").filter((key) => key.startsWith(kind))

const shares = (one: string, other: string, kind: string): boolean => {
  const keys = new Set(keysOf(other, kind))
  return keysOf(one, kind).some((key) => keys.has(key))
}

/** Whether two persons are the same: birth date, document number and names match. */
export const isDuplicate = (one: string, other: string): boolean =>
  shares(one, other, number) && shares(one, other, names)

/**
 * Whether a person may be the one that was refused for good: the birth date matches, together with the document number or the
 * names.
 */
export const meetsRefused = (one: string, other: string): boolean =>
  shares(one, other, number) || shares(one, other, names)

/**
 * The unique claims of a person. Two records of the same person share at least one claim, so two clients can't both
 * hold all of their claims.
 */
export const personClaims = (personKey: string): ReadonlyArray<string> =>
  personKey < firstPersonKey
    ? [`person:${personKey}`]
    : keysOf(personKey, number).flatMap((one) => keysOf(personKey, names).map((other) => `person:${one} ${other}`))
