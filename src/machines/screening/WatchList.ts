/**
 * Sanctions and politically exposed persons in memory, found by likeness without reading the whole list.
 *
 * The required likeness of a name depends on the birth date and country beside it (screen.ts computes these floors), so the
 * names have a group for each floor: by exact birth date, by year of birth, by country where no birth date is known, and one
 * for entries that count with any birth date. A skipped name is proved unable to reach its floor (NamePattern). The few entries
 * with the client's exact birth date are also compared one by one, so that extra or missing words do not hide a match
 * (sameDay.ts) (F26).
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

/** An entry with its prepared name. */
export interface Listed extends NameForms {
  readonly entry: WatchEntry
}

/** The person to find. */
export interface Question {
  readonly forms: PersonForms
  readonly dob: string | null
  readonly nationalities: ReadonlyArray<string>
}

/** Least name likeness that can matter, by the other known facts of client and entry. */
export interface Floors {
  /** The same exact birth date. */
  readonly sameDay: number
  /** A politically exposed person born in the same year. */
  readonly sameYear: number
  /** Any other case: sanctions with any birth date, and entries without one from another country. */
  readonly anyone: number
  /** No birth date known, and one of the client's countries. */
  readonly undatedSameCountry: number
  /** No birth date known, the country unknown on either side. */
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

/** A whole birth date, or null. */
const dayOf = (dob: string | null): string | null =>
  dob !== null && dob.length === 10 && yearOfBirth(dob) !== null ? dob : null

const textsOf = ({ full, short }: NameForms): ReadonlyArray<string> => (short === full ? [full] : [full, short])

/** A name's number: twice the slot of its entry, one more for the second text. */
const nameOf = (slot: number, form: number): number => 2 * slot + form

const isSameFacts = (a: WatchEntry, b: WatchEntry): boolean =>
  a.name === b.name && a.dob === b.dob && a.country === b.country && a.list === b.list

const unknownCountry = ""

/** The list. Entries are added and removed one by one as the published lists change; an id added again replaces the old entry. */
export class WatchList {
  readonly #floors: { readonly [K in keyof Floors]: Floor }
  readonly #slotOf = new Map<number, number>()
  readonly #slots: Array<Listed | null> = []
  /** Texts by number of the name. */
  readonly #texts: Array<string> = []
  readonly #freeSlots: Array<number> = []
  readonly #sheets = new NameSheets((name) => this.#texts[name]!)
  readonly #byDay = new Map<string, NameGroup>()
  /** Slots by birth date. */
  readonly #slotsOfDay = new Map<string, Set<number>>()
  readonly #pepByYear = new Map<string, NameGroup>()
  readonly #undatedByCountry = new Map<string, NameIndex>()
  /** Every entry except the politically exposed persons with a known year of birth. */
  readonly #anyone = new NameIndex(this.#sheets)
  /** Slots with a text too long for a pattern: compared directly with clients whose name is long enough. */
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
    // An import repeats most entries unchanged: only a change of the compared facts matters.
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

  /** Visits once each entry that is like the client by one of its texts, or that has the exact birth date. */
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
      const asked = this.#sheets.asked(text)
      for (const { group, floor } of this.#groupsFor(question)) {
        const demand = floor.demand(text.length)
        const search: Search = { asked, demand, found: [], seen: 0 }
        group?.search(search)
        effort.seen += search.seen
        effort.compared += search.found.length
        // Reads the lengths of all names first, so that the processor loads many texts at once instead of one after the other.
        const likely = search.found.filter((name) => demand.mayLack(this.#texts[name]!.length, maxPrefix) >= 0)
        for (const name of likely) if (isAlike(text, this.#texts[name]!, floor.likeness)) meet(name >>> 1)
      }
    }
    return effort
  }

  /**
   * The groups that matter to a client. Without a birth date of the client every entry counts like one without a birth date;
   * without a nationality every entry counts like one without a country.
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

  /** Compares names that are too long for a pattern, by the floor of the exact birth date, because it is the lowest floor. */
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

/** Work for one client, for measurements: names compared by pattern, and names compared letter by letter. */
export interface Effort {
  readonly seen: number
  readonly compared: number
}

interface SearchedGroup {
  readonly group: NameGroup | NameIndex | undefined
  readonly floor: Floor
}
