/**
 * The kinds of personal identifier in transaction reports, by nationality, and the construction of CONCAT. The table and the
 * two text rules are apart from the record that uses them, so that each line can be compared with the regulation. Source:
 * F27; Commission Delegated Regulation (EU) 2017/590 (RTS 22) Article 6 and Annex II; ESMA/2016/1452.
 */
import { parseCalendarDate } from "../shared/CalendarDate.ts"
import { isCountry } from "../shared/Country.ts"
import { nameTitles, transliterate } from "../screening/Transliteration.ts"

/**
 * Kinds of identifier. NATIONAL_NUMBER: personal number, personal code or social register number. INVESTOR_SHARE: the
 * number of the Greek Dematerialised Securities System.
 */
export const identifierSchemes = [
  "NATIONAL_NUMBER",
  "TAX_NUMBER",
  "INVESTOR_SHARE",
  "PASSPORT",
  "NATIONAL_ID",
  "CONCAT"
] as const
export type IdentifierScheme = (typeof identifierSchemes)[number]

const personal = ["NATIONAL_NUMBER", "CONCAT"] as const
const personalThenPassport = ["NATIONAL_NUMBER", "PASSPORT", "CONCAT"] as const
const passportThenCard = ["PASSPORT", "NATIONAL_ID", "CONCAT"] as const
const passport = ["PASSPORT", "CONCAT"] as const
const concat = ["CONCAT"] as const

/** Annex II: the EEA nationalities, best identifier first. EE, ES, IS, IT, MT and PL have no CONCAT. */
const annexII: ReadonlyMap<string, ReadonlyArray<IdentifierScheme>> = new Map<string, ReadonlyArray<IdentifierScheme>>([
  ["AT", concat],
  ["BE", personal],
  ["BG", personal],
  ["CY", passport],
  ["CZ", personalThenPassport],
  ["DE", concat],
  ["DK", personal],
  ["EE", ["NATIONAL_NUMBER"]],
  ["ES", ["TAX_NUMBER"]],
  ["FI", personal],
  ["FR", concat],
  ["GR", ["INVESTOR_SHARE", "CONCAT"]],
  ["HR", personal],
  ["HU", concat],
  ["IE", concat],
  ["IS", ["NATIONAL_NUMBER"]],
  ["IT", ["TAX_NUMBER"]],
  ["LI", passportThenCard],
  ["LT", personalThenPassport],
  ["LU", concat],
  ["LV", personal],
  ["MT", ["NATIONAL_NUMBER", "PASSPORT"]],
  ["NL", passportThenCard],
  ["NO", personal],
  ["PL", ["NATIONAL_NUMBER", "TAX_NUMBER"]],
  ["PT", ["TAX_NUMBER", "PASSPORT", "CONCAT"]],
  ["RO", personalThenPassport],
  ["SE", personal],
  ["SI", personal],
  ["SK", personalThenPassport]
])

/**
 * Identifier kinds for a nationality, best first. The line "all other countries" also serves GB: Annex II still lists the
 * National Insurance number, but for reporters in the Union, British nationals are third-country nationals (ESMA, 6 July
 * 2021).
 */
export const schemesOf = (nationality: string): ReadonlyArray<IdentifierScheme> => annexII.get(nationality) ?? passport

/**
 * Countries where Annex II requires the tax number of a natural person, so that the TIN given at onboarding is the
 * identifier. The Slovenian personal number (EMSO) is not the Slovenian tax number, and onboarding does not collect it.
 */
export const tinIsIdentifier: ReadonlySet<string> = new Set(
  "BE BG CZ DK EE FI HR IS IT LT LV MT NO PL PT RO SE SK ES".split(" ")
)

/** Detached prefixes, transliterated. Longer ones come first, so that "van der" is removed before "van". */
const prefixes: ReadonlyArray<ReadonlyArray<string>> = (
  "am,auf,auf dem,aus der,d,da,de,de l,del,de la,de le,di,do,dos,du,im,la,le,mac,mc,mhac,mhic,mhic giolla,mic,ni,nic," +
  "o,ua,ui,van,van de,van den,van der,vom,von,von dem,von den,von der"
)
  .split(",")
  .map((prefix) => prefix.toUpperCase().split(" "))
  .toSorted((a, b) => b.length - a.length)

const lettersOf = (word: string): string => word.replace(/[^A-Z]/g, "")

/** The number of leading words that are titles, or that form one prefix. The last word is the name itself and always stays. */
const leading = (words: ReadonlyArray<string>): number => {
  const bare = words.map(lettersOf)
  if (bare.length > 1 && nameTitles.has(bare[0] ?? "")) return 1
  const prefix = prefixes.find((parts) => parts.length < bare.length && parts.every((part, i) => bare[i] === part))
  return prefix?.length ?? 0
}

/**
 * The words of a name in capitals, without titles and detached prefixes at its front. Attached prefixes (O'Brian, McDonald)
 * stay.
 */
const wordsOf = (name: string): ReadonlyArray<string> => {
  // French writes "de l'" attached to the name (de l'Isle), but the guideline lists it as a prefix.
  const apart = transliterate(name).replace(/\b(DE L)['’]\s*/g, "$1' ")
  let words = apart.split(/\s+/).filter((word) => lettersOf(word) !== "")
  for (let drop = leading(words); drop > 0; drop = leading(words)) words = words.slice(drop)
  return words
}

const five = (letters: string): string => letters.slice(0, 5).padEnd(5, "#")

export interface ConcatFacts {
  /** ISO alpha-2. */
  readonly nationality: string
  /** YYYY-MM-DD. */
  readonly dateOfBirth: string
  readonly firstName: string
  readonly surname: string
}

/**
 * CONCAT: country, birth date, five letters of the first name up to its first space, five letters of the surname; missing
 * letters are filled with #. Null when the country is not an assigned code, the date is not real, or a name has no letter
 * left. Source: RTS 22 Article 6(4), 6(5).
 */
export const concatIdentifier = ({ nationality, dateOfBirth, firstName, surname }: ConcatFacts): string | null => {
  const first = lettersOf(wordsOf(firstName)[0] ?? "")
  const last = lettersOf(wordsOf(surname).join(""))
  if (!isCountry(nationality) || parseCalendarDate(dateOfBirth) === undefined || first === "" || last === "")
    return null
  return nationality + dateOfBirth.replaceAll("-", "") + five(first) + five(last)
}
