/**
 * Screens a client against the watch lists: score, outcome and the candidates a compliance officer sees. Runs inside
 * POST /clients and PUT .../kyc, so it must be quick on lists of hundreds of thousands of names; what the index leaves
 * out is proved unable to reach a threshold. Source: F26; doc 1, Rules of POST /clients 6; A1-28.
 */
import { nameScore, listedForms, personForms } from "./nameMatch.ts"
import type { NameForms } from "./nameMatch.ts"
import { WatchList, yearOfBirth } from "./WatchList.ts"
import type { WatchEntry, WatchListName } from "./WatchList.ts"

/** The client's facts that are compared; dates YYYY-MM-DD, nationalities ISO alpha-2. */
export interface ScreenedPerson {
  readonly firstName: string
  readonly middleName: string | null
  readonly lastName: string
  readonly dob: string | null
  readonly nationalities: ReadonlyArray<string>
}

export type ScreeningOutcome = "CLEAR" | "HIT" | "POSSIBLE"

export interface ScreeningCandidate {
  readonly entryId: number
  readonly list: WatchListName
  readonly score: number
  readonly nameScore: number
}

export interface ScreeningResult {
  readonly outcome: ScreeningOutcome
  /** Entries at or over a threshold, best first: hits before possible matches, then by score. At most 20. */
  readonly candidates: ReadonlyArray<ScreeningCandidate>
}

/** Likeness of one client and one entry. */
export interface PairScore {
  readonly outcome: ScreeningOutcome
  readonly score: number
  readonly nameScore: number
}

/** Cut-offs of F26, each reached when equal. */
export interface ScreeningThresholds {
  readonly hit: number
  readonly possible: number
  readonly sanctionsName: number
}

export const screeningThresholds: ScreeningThresholds = { hit: 0.95, possible: 0.85, sanctionsName: 0.9 }

export const maxCandidates = 20

/** Hundredths: whole numbers, so that a perfect name and birth date with a foreign nationality is exactly 0.95. */
const weights = { name: 75, dob: 20, country: 5 } as const

/**
 * Outcome of one pair: a hit needs a sanctions list, and there a very like name is possible whatever the birth date.
 */
export const outcomeOf = (
  list: WatchListName,
  score: number,
  name: number,
  limits: ScreeningThresholds = screeningThresholds
): ScreeningOutcome => {
  if (list === "SANCTIONS" && score >= limits.hit) return "HIT"
  if (score >= limits.possible) return "POSSIBLE"
  return list === "SANCTIONS" && name >= limits.sanctionsName ? "POSSIBLE" : "CLEAR"
}

/**
 * Birth date factor: equal 1, same year 0.6, different 0. A date given but not readable ("circa 1970") is unknown, 0.5;
 * a date not given at all is null, and its term is left out of the score. Source: F26.
 */
export const dobFactor = (mine: string | null, listed: string | null): number | null => {
  if (mine === null || listed === null) return null
  const myYear = yearOfBirth(mine)
  const theirYear = yearOfBirth(listed)
  if (myYear === null || theirYear === null) return 0.5
  if (mine === listed && mine.length === 10) return 1
  return myYear === theirYear ? 0.6 : 0
}

/** 1 when the listed country is among the nationalities, 0 when not, null when either side is unknown. Source: F26. */
export const countryFactor = (nationalities: ReadonlyArray<string>, country: string | null): number | null => {
  if (country === null || nationalities.length === 0) return null
  return nationalities.includes(country) ? 1 : 0
}

const weightOf = (dob: number | null, country: number | null): number =>
  weights.name + (dob === null ? 0 : weights.dob) + (country === null ? 0 : weights.country)

/** Weighted score 0 to 1; unknown terms left out and the rest scaled up to 1. Source: F26. */
export const totalScore = (name: number, dob: number | null, country: number | null): number =>
  (weights.name * name + weights.dob * (dob ?? 0) + weights.country * (country ?? 0)) / weightOf(dob, country)

/** The least nameScore that is not CLEAR with these factors; over 1 when no name can do it. */
const neededName = (list: WatchListName, dob: number | null, country: number | null): number => {
  const others = weights.dob * (dob ?? 0) + weights.country * (country ?? 0)
  const byScore = (screeningThresholds.possible * weightOf(dob, country) - others) / weights.name
  return list === "SANCTIONS" ? Math.min(byScore, screeningThresholds.sanctionsName) : byScore
}

const floorOf = (dobs: ReadonlyArray<number | null>): number =>
  Math.min(...dobs.flatMap((dob) => [1, 0, null].map((country) => neededName("SANCTIONS", dob, country))))

/**
 * Every birth date factor but the equal one, whose entries are found by the date itself. (A politically exposed person
 * needs the same year: with another, the best name and country give 0.80.)
 */
const floors = { dated: floorOf([0.6, 0.5, 0]), undated: floorOf([null]) }

const scoreForms = (forms: NameForms, listedAs: NameForms, person: ScreenedPerson, entry: WatchEntry): PairScore => {
  const name = nameScore(forms, listedAs)
  const score = totalScore(name, dobFactor(person.dob, entry.dob), countryFactor(person.nationalities, entry.country))
  return { outcome: outcomeOf(entry.list, score, name), score, nameScore: name }
}

const formsOf = (person: ScreenedPerson): NameForms => personForms(person.firstName, person.middleName, person.lastName)

/** Score and outcome of one client against one entry: the definition that the index only makes quick. Source: F26. */
export const scorePair = (person: ScreenedPerson, entry: WatchEntry): PairScore =>
  scoreForms(formsOf(person), listedForms(entry.name), person, entry)

/** Watch lists ready for screening. `add` and `remove` keep it current without a rebuild. */
export type Screener = Pick<WatchList, "size" | "add" | "remove" | "query" | "visitCandidates" | "mayReach">

/** Indexes the entries. Source: F26. */
export const makeScreener = (entries: ReadonlyArray<WatchEntry>): Screener => new WatchList(entries, floors)

const rank = (outcome: ScreeningOutcome): number => (outcome === "HIT" ? 0 : 1)

type Found = ScreeningCandidate & { readonly outcome: ScreeningOutcome }

const bestFirst = (a: Found, b: Found): number =>
  rank(a.outcome) - rank(b.outcome) || b.score - a.score || b.nameScore - a.nameScore || a.entryId - b.entryId

/** Outcome and shown candidates from all entries that are not clear. A plain scan in the tests ends here too. */
export const toResult = (found: ReadonlyArray<Found>): ScreeningResult => {
  const ordered = found.toSorted(bestFirst)
  return {
    outcome: ordered[0]?.outcome ?? "CLEAR",
    candidates: ordered
      .slice(0, maxCandidates)
      .map(({ entryId, list, score, nameScore: name }) => ({ entryId, list, score, nameScore: name }))
  }
}

/**
 * Screens one client. `dispositions` are the entries compliance has marked FALSE_POSITIVE for this very client: they no
 * longer count. A name with no letter or digit cannot be compared; it goes to a person (POSSIBLE, no candidates)
 * instead of passing. Source: F26.
 */
export const screen = (
  screener: Screener,
  person: ScreenedPerson,
  dispositions: ReadonlySet<number>
): ScreeningResult => {
  const forms = formsOf(person)
  if (forms.full === "") return { outcome: "POSSIBLE", candidates: [] }
  const query = screener.query(forms)
  const found: Array<Found> = []
  screener.visitCandidates(query, person.dob, (listed) => {
    const { entry } = listed
    if (dispositions.has(entry.entryId)) return
    const dob = dobFactor(person.dob, entry.dob)
    const needed = neededName(entry.list, dob, countryFactor(person.nationalities, entry.country))
    if (needed > 1 + 1e-9 || !screener.mayReach(query, listed, needed)) return
    const pair = scoreForms(forms, listed.forms, person, entry)
    if (pair.outcome !== "CLEAR") found.push({ entryId: entry.entryId, list: entry.list, ...pair })
  })
  return toResult(found)
}
