/**
 * Screens a client against the watch lists: score, outcome and the candidates for a compliance officer. It runs inside POST
 * /clients and PUT .../kyc, so it must be fast on lists of hundreds of thousands of names. The index skips only names that
 * provably can't reach a threshold (doc 1, Rules of POST /clients 6; F26, A1-28).
 */
import { doubtOf, type NameDoubt, type NameFields, unreadableEntryId } from "./foldName.ts"
import { listedForms, type NameForms, nameScore, type PersonForms, personForms } from "./nameForms.ts"
import { sameDayScore } from "./sameDay.ts"
import { type Floors, type WatchEntry, WatchList, type WatchListName, yearOfBirth } from "./WatchList.ts"

/** The compared facts of the client; dates YYYY-MM-DD, nationalities ISO alpha-2. */
export interface ScreenedPerson extends NameFields {
  readonly dob: string | null
  readonly nationalities: ReadonlyArray<string>
}

export type ScreeningOutcome = "CLEAR" | "HIT" | "POSSIBLE"

/**
 * The version of the rules. It is raised with every change that can give another result for the same person and list
 * (folding, likeness, score, thresholds): clients screened under another version are screened again. A test compares this
 * number with the rules' results.
 */
export const screeningRulesVersion = 4

/**
 * An entry that reaches a threshold. Or the client's name itself, when it can't be compared and so might match any entry
 * (list UNREADABLE, entry 0, likeness 1): a possible match that compliance reviews and clears like any other.
 */
export type ScreeningCandidate = {
  readonly entryId: number
  readonly list: WatchListName | "UNREADABLE"
  readonly score: number
  readonly nameScore: number
  /** Why the name can't be compared; only on the candidate of the list UNREADABLE. */
  readonly why?: NameDoubt
}

export interface ScreeningResult {
  readonly outcome: ScreeningOutcome
  /** Entries that reach a threshold, at most 20: hits before possible matches, then by score. */
  readonly candidates: ReadonlyArray<ScreeningCandidate>
}

/**
 * The comparison of one client with one entry: the outcome, the weighted score, and the likeness of the names alone, both 0
 * to 1.
 */
export interface PairScore {
  readonly outcome: ScreeningOutcome
  readonly score: number
  readonly nameScore: number
}

/** The thresholds of score and likeness; an equal value reaches them. */
export interface ScreeningThresholds {
  readonly hit: number
  readonly possible: number
  readonly sanctionsName: number
}

export const screeningThresholds: ScreeningThresholds = { hit: 0.95, possible: 0.85, sanctionsName: 0.9 }

export const maxCandidates = 20

/** Weights in hundredths. Whole numbers, so that an equal name and birth date with another nationality gives exactly 0.95. */
const weights = { name: 75, dob: 20, country: 5 } as const

/**
 * Outcome of one pair. Only a sanctions list can give a hit; there, a very similar name is a possible match whatever the
 * birth date.
 */
export const outcomeOf = (
  list: ScreeningCandidate["list"],
  score: number,
  name: number,
  limits: ScreeningThresholds = screeningThresholds
): ScreeningOutcome => {
  if (list === "SANCTIONS" && score >= limits.hit) return "HIT"
  if (score >= limits.possible) return "POSSIBLE"
  return list === "SANCTIONS" && name >= limits.sanctionsName ? "POSSIBLE" : "CLEAR"
}

/**
 * Birth date factor: equal 1, same year 0.6, different 0. An unreadable date ("circa 1970") counts as unknown, 0.5. A missing
 * date gives null: the score then leaves the term out.
 */
export const dobFactor = (mine: string | null, listed: string | null): number | null => {
  if (mine === null || listed === null) return null
  const myYear = yearOfBirth(mine)
  const theirYear = yearOfBirth(listed)
  if (myYear === null || theirYear === null) return 0.5
  if (mine === listed && mine.length === 10) return 1
  return myYear === theirYear ? 0.6 : 0
}

/** Country factor: 1 when the listed country is among the nationalities, 0 when not, null when either is unknown. */
export const countryFactor = (nationalities: ReadonlyArray<string>, country: string | null): number | null => {
  if (country === null || nationalities.length === 0) return null
  return nationalities.includes(country) ? 1 : 0
}

const weightOf = (dob: number | null, country: number | null): number =>
  weights.name + (dob === null ? 0 : weights.dob) + (country === null ? 0 : weights.country)

/** Weighted score, 0 to 1. Unknown terms are left out, and the known ones are scaled up to 1. */
export const totalScore = (name: number, dob: number | null, country: number | null): number =>
  (weights.name * name + weights.dob * (dob ?? 0) + weights.country * (country ?? 0)) / weightOf(dob, country)

/** The lowest name likeness with which a pair with these factors is not CLEAR; more than 1 if no name can reach that. */
const neededName = (list: WatchListName, dob: number | null, country: number | null): number => {
  const others = weights.dob * (dob ?? 0) + weights.country * (country ?? 0)
  const byScore = (screeningThresholds.possible * weightOf(dob, country) - others) / weights.name
  return list === "SANCTIONS" ? Math.min(byScore, screeningThresholds.sanctionsName) : byScore
}

const lists: ReadonlyArray<WatchListName> = ["SANCTIONS", "PEP"]
const anyCountry = [1, 0, null] as const

const least = (of: ReadonlyArray<WatchListName>, dobs: ReadonlyArray<number | null>): number =>
  Math.min(...of.flatMap((list) => dobs.flatMap((dob) => anyCountry.map((country) => neededName(list, dob, country)))))

/**
 * The floors of name likeness for the index: 0.80, 0.9067, 0.90, 0.84 and 0.85. A politically exposed person born in
 * another year never matters: even an equal name and country give a score of only 0.80.
 */
export const screeningFloors: Floors = {
  sameDay: least(lists, [1]),
  sameYear: least(["PEP"], [0.6]),
  anyone: Math.min(
    least(["SANCTIONS"], [0.6, 0.5, 0]),
    least(["PEP"], [0.5]),
    ...lists.map((list) => neededName(list, null, 0))
  ),
  undatedSameCountry: Math.min(...lists.map((list) => neededName(list, null, 1))),
  undatedNoCountry: Math.min(...lists.map((list) => neededName(list, null, null)))
}

/** The same as `scorePair`, for names whose forms are already computed. */
export const scoreForms = (
  forms: PersonForms,
  person: ScreenedPerson,
  listed: NameForms,
  entry: WatchEntry
): PairScore => {
  const dob = dobFactor(person.dob, entry.dob)
  const name = dob === 1 ? sameDayScore(forms, listed) : nameScore(forms, listed)
  const score = totalScore(name, dob, countryFactor(person.nationalities, entry.country))
  return { outcome: outcomeOf(entry.list, score, name), score, nameScore: name }
}

/** Score and outcome of one client against one entry. This function defines the rules; the index only makes them fast. */
export const scorePair = (person: ScreenedPerson, entry: WatchEntry): PairScore =>
  scoreForms(personForms(person), person, listedForms(entry.name), entry)

/** Watch lists ready for screening. `add` and `remove` keep it current without a rebuild. */
export type Screener = Pick<WatchList, "size" | "add" | "remove" | "visitCandidates">

/**
 * Makes a screener for these entries. Its index skips only names that no threshold can make a candidate
 * (`screeningFloors`).
 */
export const makeScreener = (entries: ReadonlyArray<WatchEntry>): Screener => new WatchList(entries, screeningFloors)

const rank = (outcome: ScreeningOutcome): number => (outcome === "HIT" ? 0 : 1)

/** A candidate before ranking, which its outcome decides. */
export type Found = ScreeningCandidate & { readonly outcome: ScreeningOutcome }

const bestFirst = (a: Found, b: Found): number =>
  rank(a.outcome) - rank(b.outcome) || b.score - a.score || b.nameScore - a.nameScore || a.entryId - b.entryId

const candidateOf = ({ entryId, list, score, nameScore: name, why }: Found): ScreeningCandidate => ({
  entryId,
  list,
  score,
  nameScore: name,
  ...(why === undefined ? {} : { why })
})

/** The outcome, and the candidates to show, of all entries that are not clear. The tests use it for a plain scan too. */
export const toResult = (found: ReadonlyArray<Found>): ScreeningResult => {
  const ordered = found.toSorted(bestFirst)
  return {
    outcome: ordered[0]?.outcome ?? "CLEAR",
    candidates: ordered.slice(0, maxCandidates).map(candidateOf)
  }
}

/** The client's own name as a candidate if it can't be compared; otherwise an empty list. */
export const unreadable = (person: ScreenedPerson): ReadonlyArray<Found> => {
  const why = doubtOf(person)
  if (why === null) return []
  return [{ entryId: unreadableEntryId, list: "UNREADABLE", outcome: "POSSIBLE", score: 1, nameScore: 1, why }]
}

/** All entries that reach a threshold, unsorted, and the name itself when it can't be compared. */
export const findAll = (screener: Screener, person: ScreenedPerson): ReadonlyArray<Found> => {
  const forms = personForms(person)
  const found: Array<Found> = [...unreadable(person)]
  screener.visitCandidates({ forms, dob: person.dob, nationalities: person.nationalities }, (listed) => {
    const { entry } = listed
    const pair = scoreForms(forms, person, listed, entry)
    if (pair.outcome !== "CLEAR") found.push({ entryId: entry.entryId, list: entry.list, ...pair })
  })
  return found
}

/** The outcome and the score with which compliance has reviewed a pair. */
export type JudgedPair = Pick<PairScore, "outcome" | "score">

const severity: Readonly<Record<ScreeningOutcome, number>> = { CLEAR: 0, POSSIBLE: 1, HIT: 2 }

/**
 * True if neither outcome nor score of a pair is higher than those that compliance has reviewed. The review then still
 * covers the pair.
 */
export const isNoWorse = (pair: JudgedPair, judged: JudgedPair): boolean =>
  severity[pair.outcome] <= severity[judged.outcome] && pair.score <= judged.score

/** Screens a person under several names. Each entry counts once, with the name that gives the graver result. */
export const findUnderNames = (screener: Screener, people: ReadonlyArray<ScreenedPerson>): ReadonlyArray<Found> => {
  const worst = new Map<number, Found>()
  for (const one of people.flatMap((person) => findAll(screener, person))) {
    const known = worst.get(one.entryId)
    if (known === undefined || bestFirst(one, known) < 0) worst.set(one.entryId, one)
  }
  return [...worst.values()]
}

/**
 * The pairs that compliance has settled. An implementation may compare the entry alone, or also the likeness of the pair.
 */
export interface Settled {
  has(entryId: number, pair: PairScore): boolean
}

/** The result of a screening, without the pairs that compliance has settled. */
export const resultOf = (found: ReadonlyArray<Found>, settled: Settled): ScreeningResult =>
  toResult(found.filter((each) => !settled.has(each.entryId, each)))

/** Screens one client; `dispositions` are the entries that compliance has settled for this client. */
export const screen = (screener: Screener, person: ScreenedPerson, dispositions: Settled): ScreeningResult =>
  resultOf(findAll(screener, person), dispositions)
