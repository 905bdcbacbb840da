/**
 * Folds names into the words for comparison, and finds names that can't be compared. A person who evades a list writes the
 * listed name with the same appearance but other characters: invisible characters, dots or spaces between the letters, or
 * letters of another script. Names of clients and of lists are folded by these functions (F26).
 */
import anyAscii from "any-ascii"
import { nameTitles, transliterate } from "./Transliteration.ts"

/**
 * The words of a name in upper-case Latin letters. Compatibility forms are decomposed (NFKD); marks, invisible characters,
 * punctuation, titles and placeholders are removed. Apostrophes join (O'Brian is OBRIAN); all other punctuation separates.
 * Consecutive single letters become one word (B. a. l. d. u. i. n). Titles stay in a name that has nothing else, because
 * Master may be a surname.
 */
export const nameTokens = (name: string): ReadonlyArray<string> => {
  const words = withoutPlaceholders(
    isAscii(name)
      ? joinSingles(bare(withoutSlashes(name).toUpperCase()).split(/[^A-Z0-9]+/)).join(" ")
      : romanised(transliterate(wordsIn(bare(romanise(withoutSlashes(name)))).join(" ")), /[^\x20-\x7e]+/gu)
  ).split(" ")
  const isTitle = (word: string, place: number): boolean =>
    nameTitles.has(word) || (word === "PH" && words[place + 1] === "D") || (word === "D" && words[place - 1] === "PH")
  const names = words.filter((word, place) => word !== "" && !isTitle(word, place))
  return names.length > 0 ? names : words.filter((word) => word !== "")
}

/** Removes N/A early: its two letters would otherwise become one word. */
const withoutSlashes = (name: string): string =>
  name.includes("/") ? name.replace(/(?<![\p{L}\p{N}])n\s*\/\s*a(?![\p{L}\p{N}])/giu, " ") : name

/** Texts that registers and forms hold in place of a missing name: First Name Unknown, No First Name, XXX. */
const placeholder =
  /(?<![A-Z0-9])(?:[FLM]NU|N[FLM]N|X{2,}|NO (?:(?:FIRST|MIDDLE|LAST|GIVEN|FAMILY) |SUR)?NAME|(?:(?:FIRST|LAST|GIVEN|FAMILY) |SUR)?NAME UNKNOWN|UNKNOWN)(?![A-Z0-9])/g

/** Matches a part of every placeholder, for a fast pre-check. */
const perhapsPlaceholder = /[FLM]NU|N[FLM]N|XX|NAME|UNKNOWN/

const withoutPlaceholders = (words: string): string => {
  if (!perhapsPlaceholder.test(words)) return words
  const left = words.replace(placeholder, " ").replace(/ {2,}/g, " ").trim()
  // The remaining text may be a placeholder again, written around the first one.
  return left === words ? words : withoutPlaceholders(left)
}

/**
 * Letters of scripts without a table, with the marks that are their vowels. Georgian is romanised later, after its single
 * letters are joined.
 */
const otherScripts =
  /(?:(?![\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Georgian}\p{Script=Common}\p{Script=Inherited}\p{Default_Ignorable_Code_Point}])\p{L}\p{M}*)+/gu

/**
 * Romanises scripts without a table, so that a name in such a script finds its candidates. The name still counts as one that
 * can't be compared (`doubtOf`), because most of these scripts omit letters that Latin spellings have. Georgian
 * (`measuredLetters`) is the exception.
 */
const romanise = (name: string): string => romanised(name.normalize("NFC"), otherScripts)

/**
 * Replaces each match of `letters` with Latin capitals; a letter without a Latin form stays. All other text stays as it is,
 * because the upper case of a mark can be a letter (U+0345 becomes iota).
 */
const romanised = (text: string, letters: RegExp): string =>
  isAscii(text)
    ? text
    : text.replace(letters, (run) =>
        [...run]
          .map((one) => anyAscii(one).replace(/[^A-Za-z0-9]/g, "") || one)
          .join("")
          .toUpperCase()
      )

/**
 * Letters of the modern Georgian alphabet, in both cases. They have no table, but their romanisation finds the usual Latin
 * spelling: 99 of 100 test pairs reach the floor.
 */
const measuredLetters = /[\u10d0-\u10f0\u1c90-\u1cb0]+/gu

const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

/**
 * Apostrophes of all kinds, and accents that stand alone. They are removed before decomposition, which turns some of them
 * into a space.
 */
const joining = /['’‘‛′\p{Sk}]/gu
/** Marks, and characters that are no letter: ignorable and direction characters, and the blank of Braille. */
const hidden = /[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Lm}\u2800]/gu

/** The name without apostrophes and hidden characters. */
const bare = (name: string): string =>
  isAscii(name) ? name.replace(/['`^]/g, "") : name.replace(joining, "").normalize("NFKD").replace(hidden, "")

/** The words of a bare name, in their original letters. */
const wordsIn = (text: string): ReadonlyArray<string> => joinSingles(text.split(/[^\p{L}\p{N}]+/u))

const isSingle = (word: string): boolean =>
  word.length === 1 && /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Georgian}]/u.test(word)

/** Joins consecutive single letters of an alphabet into one word. */
const joinSingles = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (!words.some((word, place) => place > 0 && isSingle(word) && isSingle(words[place - 1] ?? ""))) return words
  const joined: Array<string> = []
  for (const [place, word] of words.entries()) {
    if (place > 0 && isSingle(word) && isSingle(words[place - 1] ?? "")) joined.push(`${joined.pop() ?? ""}${word}`)
    else joined.push(word)
  }
  return joined
}

/** The reasons why a name can't be compared with any list. */
export const nameDoubts = [
  /** Neither first nor last name has a letter. */
  "NO_NAME",
  "TITLE_ALONE",
  /** Letters that no table has. */
  "UNKNOWN_LETTERS",
  /** Letters of several scripts, or digits before letters, in one word. */
  "MIXED_WORD",
  /** A word of another script with only letters that resemble Latin ones, in a name that has no other sign of that script. */
  "LOOK_ALIKE_LETTERS",
  /** Characters that no name contains. */
  "STRANGE_CHARACTERS"
] as const
export type NameDoubt = (typeof nameDoubts)[number]

/** The entry id for a name that can't be compared; real ids begin with 1. */
export const unreadableEntryId = 0

/** First and last name are always present; a middle name may be empty. */
export interface NameFields {
  readonly firstName: string
  readonly middleName: string | null
  readonly lastName: string
}

const isPlaceholder = (name: string): boolean => nameTokens(name).length === 0 && /\p{L}/u.test(bare(name))

/** The reason that a person's name can't be compared, or null when it can. */
export const doubtOf = ({ firstName, middleName, lastName }: NameFields): NameDoubt | null => {
  // A placeholder in one of the two fields is allowed: some persons have only one name. Two placeholders mean no name.
  const needed = [firstName, lastName].map(nameTokens).filter((words) => /\p{L}/u.test(words.join("")))
  if (needed.length === 0) return "NO_NAME"
  if (needed.length < 2 && ![firstName, lastName].some(isPlaceholder)) return "NO_NAME"
  if (needed.some((words) => words.every((word) => nameTitles.has(word)))) return "TITLE_ALONE"
  const name = `${firstName} ${middleName ?? ""} ${lastName}`
  if (/^[A-Za-z .,'-]*$/.test(name)) return null
  const text = bare(name)
  if (strange.test(text)) return "STRANGE_CHARACTERS"
  const words = [firstName, middleName ?? "", lastName].flatMap((field) => wordsIn(bare(field)))
  if (words.some((word) => /\p{N}\p{L}/u.test(word) || scriptsIn(word) > 1)) return "MIXED_WORD"
  if (/[^A-Z0-9 ]/.test(transliterate(romanised(words.join(" "), measuredLetters)))) return "UNKNOWN_LETTERS"
  return scripts.some(({ looksLatin, any }) => isDisguise(words, looksLatin, any)) ? "LOOK_ALIKE_LETTERS" : null
}

/** A character that is no letter, digit, space or punctuation of names. */
const strange = /[^\p{L}\p{N}\p{Z}\p{Pd}.,·・()/"“”„«»&]/u

/** Scripts of the tables besides Latin, each with its letters that resemble Latin ones. */
const scripts = [
  { any: /\p{Script=Cyrillic}/u, looksLatin: /^[АВСЕНІЈКМОРЅТХУасеорхуіѕј]+$/u },
  { any: /\p{Script=Greek}/u, looksLatin: /^[ΑΒΕΖΗΙΚΜΝΟΡΤΥΧονιακρυχ]+$/u }
] as const

const scriptsIn = (word: string): number =>
  [/\p{Script=Latin}/u, /\p{Script=Georgian}/u, ...scripts.map(({ any }) => any)].filter((script) => script.test(word))
    .length

const isDisguise = (words: ReadonlyArray<string>, looksLatin: RegExp, any: RegExp): boolean => {
  const written = words.filter((word) => any.test(word))
  return written.length > 0 && written.every((word) => looksLatin.test(word))
}
