/**
 * How the same person is known again, at whichever partner and however the names are written (doc 1, Rules of POST /clients and
 * PUT .../kyc 4; A1-28). A person has a key of the birth date with the number of the document, and one of the birth date with
 * each spelling of the names; they are kept as keyed hashes, so that nothing readable stands beside a client.
 */
import { nameTokens } from "../screening/foldName.ts"
import { weighty } from "../screening/nameForms.ts"
import { transliterate } from "../screening/Transliteration.ts"

/** What a person is known by; the middle name is left aside. */
export interface PersonFacts {
  readonly firstName: string
  readonly lastName: string
  /** YYYY-MM-DD. */
  readonly dob: string
  readonly documentNumber: string
}

/**
 * Keys of one form stand in one order with this text: those of earlier versions of the service, hexadecimal without a word before
 * them, come before it, all of today's behind it.
 */
export const firstPersonKey = "g"

const number = "number:"
const names = "names:"

/** All keys of a person as one text, a space between two; `hash` makes a keyed hash of hexadecimal digits. */
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
 * First and last name in either order, each whole and by its first word: a second given name may stand with the first one, in
 * the field of its own, or nowhere. Spaces and hyphens within a name part nothing.
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

/** Whether two persons are the same one: birth date, document number and names. Source: A1-28. */
export const isDuplicate = (one: string, other: string): boolean =>
  shares(one, other, number) && shares(one, other, names)

/** Whether one may be the other, who was refused for good: the birth date with either number or names. Source: A1-28. */
export const meetsRefused = (one: string, other: string): boolean =>
  shares(one, other, number) || shares(one, other, names)

/** The claims of a person: two that are the same one have one of them in common (A1-28). */
export const personClaims = (personKey: string): ReadonlyArray<string> =>
  personKey < firstPersonKey
    ? [`person:${personKey}`]
    : keysOf(personKey, number).flatMap((one) => keysOf(personKey, names).map((other) => `person:${one} ${other}`))
