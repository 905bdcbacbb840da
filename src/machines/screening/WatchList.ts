/**
 * Sanctioned and politically exposed persons in memory, found by likeness without reading the whole list.
 * The required likeness of a name depends on birth date and country (screen.ts computes these floors). So the names are in
 * groups, each with its floor: by exact birth date, by year of birth, by country where no birth date is known, and one group
 * for entries that count with any birth date. A name is skipped only when it provably can't reach its floor (NamePattern).
 * The few entries with the client's exact birth date are also compared one by one, so that extra or missing words do not hide
 * a match (sameDay.ts) (F26).
 */
import { Schema } from "effect"
import { listedForms, type NameForms, type PersonForms } from "./nameForms.ts"
import { isAlike, maxPrefix } from "./nameMatch.ts"
import { NameGroup } from "./NameGroup.ts"
import { getOrMake, NameIndex } from "./NameIndex.ts"
import { Floor, maxPatternLength, patternOf } from "./NamePattern.ts"
import { NameSheets, type Search } from "./NameSheets.ts"
import { isNamesake } from "./sameDay.ts"

export const WatchListName = Schema.Literals(["SANCTIONS", "PEP"])
export type WatchListName = typeof WatchListName.Type

/** One listed name. An alias is an entry of its own. `source` is the published list and version of the entry. */
export const WatchEntry = Schema.Struct({
  entryId: Schema.Int,
  list: WatchListName,
  name: Schema.String,
  /** YYYY-MM-DD or a part of it, as precise as the list; null when the list has no date. */
  dob: Schema.NullOr(Schema.String),
  country: Schema.NullOr(Schema.String),
  source: Schema.String
})
export type WatchEntry = typeof WatchEntry.Type

/** An entry with the prepared forms of its name. */
export interface Listed extends NameForms {
  readonly entry: WatchEntry
}

/** The client to find: the prepared forms of the name, the birth date, and the nationalities. */
export interface Question {
  readonly forms: PersonForms
  readonly dob: string | null
  readonly nationalities: ReadonlyArray<string>
}

/** Minimum name likeness that can matter, by the other known facts of client and entry. */
export interface Floors {
  /** The floor for the same exact birth date. */
  readonly sameDay: number
  /** The floor for a politically exposed person born in the same year. */
  readonly sameYear: number
  /** Any other case: sanctioned persons with any birth date, and entries without a birth date from another country. */
  readonly anyone: number
  /** No birth date known, and the country is one of the client's. */
  readonly undatedSameCountry: number
  /** No birth date known, and the country unknown for entry or client. */
  readonly undatedNoCountry: number
}

/** The year of a date written YYYY, YYYY-MM or YYYY-MM-DD; null for any other text. */
export const yearOfBirth = (dob: string): string | null => {
  if (dob.length !== 4 && dob.length !== 7 && dob.length !== 10) return null
  for (let i = 0; i < dob.length; i += 1) {
    const code = dob.charCodeAt(i)
    const fits = i === 4 || i === 7 ? code === 45 : code >= 48 && code <= 57
    if (!fits) return null
  }
  return dob.slice(0, 4)
}

/** A complete birth date, or null. */
const dayOf = (dob: string | null): string | null =>
  dob !== null && dob.length === 10 && yearOfBirth(dob) !== null ? dob : null

const textsOf = ({ full, short }: NameForms): ReadonlyArray<string> => (short === full ? [full] : [full, short])

/** The number of a name: twice the slot of its entry, plus one for the entry's second text. */
const nameOf = (slot: number, form: number): number => 2 * slot + form

const isSameFacts = (a: WatchEntry, b: WatchEntry): boolean =>
  a.name === b.name && a.dob === b.dob && a.country === b.country && a.list === b.list

const unknownCountry = ""

/**
 * The watch list in memory. Entries are added and removed one by one as the published lists change. An entry with a known id
 * replaces the old one.
 */
export class WatchList {
  readonly #floors: { readonly [K in keyof Floors]: Floor }
  readonly #slotOf = new Map<number, number>()
  readonly #slots: Array<Listed | null> = []
  /** The texts of names, by the number of the name. */
  readonly #texts: Array<string> = []
  readonly #freeSlots: Array<number> = []
  readonly #sheets = new NameSheets((name) => this.#texts[name]!)
  readonly #byDay = new Map<string, NameGroup>()
  /** Slots of the entries with an exact birth date, by that date. */
  readonly #slotsOfDay = new Map<string, Set<number>>()
  readonly #pepByYear = new Map<string, NameGroup>()
  readonly #undatedByCountry = new Map<string, NameIndex>()
  /** Every entry except the politically exposed persons with a known year of birth. */
  readonly #anyone = new NameIndex(this.#sheets)
  /** Slots with a text that is too long for a pattern; they are compared directly with clients whose name is long enough. */
  readonly #long = new Set<number>()

  constructor(entries: ReadonlyArray<WatchEntry>, floors: Floors) {
    this.#floors = {
      sameDay: new Floor(floors.sameDay),
      sameYear: new Floor(floors.sameYear),
      anyone: new Floor(floors.anyone),
      undatedSameCountry: new Floor(floors.undatedSameCountry),
      undatedNoCountry: new Floor(floors.undatedNoCountry)
    }
    for (const entry of entries) this.add(entry)
  }

  get size(): number {
    return this.#slotOf.size
  }

  add(entry: WatchEntry): void {
    // An import repeats most entries unchanged, so only a change of the compared facts is applied.
    const held = this.#slots[this.#slotOf.get(entry.entryId) ?? -1]
    if (held !== undefined && held !== null && isSameFacts(held.entry, entry)) return
    this.remove(entry.entryId)
    const listed: Listed = { entry, ...listedForms(entry.name) }
    const slot = this.#freeSlots.pop() ?? this.#slots.length
    this.#slots[slot] = listed
    this.#slotOf.set(entry.entryId, slot)
    const day = dayOf(entry.dob)
    if (day !== null) getOrMake(this.#slotsOfDay, day, () => new Set<number>()).add(slot)
    for (const [form, text] of textsOf(listed).entries()) {
      if (text.length > maxPatternLength) this.#long.add(slot)
      const name = nameOf(slot, form)
      const pattern = patternOf(text)
      this.#texts[name] = text
      for (const group of this.#groupsOf(entry, text)) group.add(name, pattern)
    }
  }

  remove(entryId: number): void {
    const slot = this.#slotOf.get(entryId)
    const listed = this.#slots[slot ?? -1]
    if (slot === undefined || listed === undefined || listed === null) return
    for (const [form, text] of textsOf(listed).entries()) {
      const name = nameOf(slot, form)
      const pattern = patternOf(text)
      for (const group of this.#groupsOf(listed.entry, text)) group.remove(name, pattern)
      this.#texts[name] = ""
    }
    this.#long.delete(slot)
    this.#slotsOfDay.get(dayOf(listed.entry.dob) ?? "")?.delete(slot)
    this.#slots[slot] = null
    this.#freeSlots.push(slot)
    this.#slotOf.delete(entryId)
  }

  /** Visits once each entry that is like the client in one of its texts, or has the client's exact birth date. */
  visitCandidates(question: Question, visit: (listed: Listed) => void): Effort {
    const met = new Set<number>()
    const meet = (slot: number): void => {
      const listed = this.#slots[slot]
      if (met.has(slot) || listed === null || listed === undefined) return
      met.add(slot)
      visit(listed)
    }
    const effort = { seen: 0, compared: 0 }
    for (const slot of this.#slotsOfDay.get(dayOf(question.dob) ?? "") ?? []) {
      if (isNamesake(question.forms, this.#slots[slot]!)) meet(slot)
    }
    for (const text of textsOf(question.forms)) {
      this.#visitLong(text, meet)
      if (text.length === 0) continue
      const query = this.#sheets.query(text)
      for (const { group, floor } of this.#groupsFor(question)) {
        const demand = floor.demand(text.length)
        const search: Search = { query, demand, found: [], seen: 0 }
        group?.search(search)
        effort.seen += search.seen
        effort.compared += search.found.length
        // Filters by the lengths of all names first: the processor then loads many texts in parallel.
        const likely = search.found.filter((name) => demand.mayLack(this.#texts[name]!.length, maxPrefix) >= 0)
        for (const name of likely) if (isAlike(text, this.#texts[name]!, floor.likeness)) meet(name >>> 1)
      }
    }
    return effort
  }

  /**
   * The groups that matter to a client. For a client without a birth date, every entry counts as one without a birth date;
   * for a client without a nationality, as one without a country.
   */
  #groupsFor({ dob, nationalities }: Question): ReadonlyArray<SearchedGroup> {
    const { sameDay, sameYear, anyone, undatedSameCountry, undatedNoCountry } = this.#floors
    const year = dob === null ? null : yearOfBirth(dob)
    if (dob === null || year === null) {
      const everyYear = [...this.#pepByYear.values()]
      return [this.#anyone, ...everyYear].map((group) => ({ group, floor: undatedSameCountry }))
    }
    const undated = (country: string, floor: Floor): SearchedGroup => ({
      group: this.#undatedByCountry.get(country),
      floor
    })
    return [
      { group: this.#byDay.get(dob), floor: sameDay },
      { group: this.#pepByYear.get(year), floor: sameYear },
      { group: this.#anyone, floor: nationalities.length === 0 ? undatedNoCountry : anyone },
      undated(unknownCountry, undatedNoCountry),
      ...nationalities.map((country) => undated(country, undatedSameCountry))
    ]
  }

  /**
   * Visits the entries with a text that is too long for a pattern, if its length allows the lowest floor, that of the exact birth
   * date.
   */
  #visitLong(text: string, pass: (slot: number) => void): void {
    for (const slot of this.#long) {
      const listed = this.#slots[slot]
      if (listed === null || listed === undefined) continue
      if (textsOf(listed).some((other) => this.#floors.sameDay.allows(text.length, other.length))) pass(slot)
    }
  }

  /** The groups that hold one text of an entry. */
  #groupsOf({ list, dob, country }: WatchEntry, text: string): ReadonlyArray<NameGroup | NameIndex> {
    if (text.length === 0 || text.length > maxPatternLength) return []
    const year = dob === null ? null : yearOfBirth(dob)
    const day = dayOf(dob)
    return [
      ...(day === null ? [] : [getOrMake(this.#byDay, day, () => new NameGroup(this.#sheets))]),
      ...(list === "PEP" && year !== null
        ? [getOrMake(this.#pepByYear, year, () => new NameGroup(this.#sheets))]
        : [this.#anyone]),
      ...(dob === null
        ? [getOrMake(this.#undatedByCountry, country ?? unknownCountry, () => new NameIndex(this.#sheets))]
        : [])
    ]
  }
}

/** Work for one client, for measurements: the number of names compared by pattern, and of names compared letter by letter. */
export interface Effort {
  readonly seen: number
  readonly compared: number
}

interface SearchedGroup {
  readonly group: NameGroup | NameIndex | undefined
  readonly floor: Floor
}
