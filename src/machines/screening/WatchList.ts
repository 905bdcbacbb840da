/**
 * Sanctions and politically exposed persons in memory, found by likeness without reading the whole list.
 *
 * The index loses nothing: a Jaro likeness of j between texts of a and b characters needs m paired equal characters
 * with m/a + m/b >= 3j - 1, so at least (3j - 1)ab/(a + b) characters in common. Two sets that share o of their
 * members, both sorted rarest first, share l of them within their first a-o+l and b-o+l members (prefix filter of
 * set-similarity joins). Only pairs with two or more common first characters may share less (Winkler's bonus makes up
 * for it); a map of two-letter beginnings finds those. Source: F26.
 */
import { Schema } from "effect"
import { commonPrefix, jaroNeeded, listedForms } from "./nameMatch.ts"
import type { NameForms } from "./nameMatch.ts"

export const WatchListName = Schema.Literals(["SANCTIONS", "PEP"])
export type WatchListName = typeof WatchListName.Type

/** One listed name. An alias is an entry of its own. `source` says which published list and version it came from. */
export const WatchEntry = Schema.Struct({
  entryId: Schema.Int,
  list: WatchListName,
  name: Schema.String,
  /** YYYY-MM-DD or as much of it as the list knows; null when it says nothing. */
  dob: Schema.NullOr(Schema.String),
  country: Schema.NullOr(Schema.String),
  source: Schema.String
})
export type WatchEntry = typeof WatchEntry.Type

/** A text with its characters as a sorted set: the second E of a name is another member than the first. */
interface Form {
  readonly text: string
  readonly members: Int32Array
}

/** An entry with its prepared name. */
export interface Listed {
  readonly entry: WatchEntry
  readonly forms: NameForms
  readonly prepared: ReadonlyArray<Form>
}

/** A name asked for, prepared once per screening. */
export interface Query {
  readonly prepared: ReadonlyArray<Form>
}

/**
 * Least name likeness that can matter: for sanctions entries with a birth date other than the client's, and for entries
 * of either list whose birth date says nothing. A politically exposed person born in another year never matters,
 * however alike the name.
 */
export interface Floors {
  readonly dated: number
  readonly undated: number
}

/** The year of a date written YYYY, YYYY-MM or YYYY-MM-DD; null when the text is none of them. Source: F26. */
export const yearOfBirth = (dob: string): string | null => {
  if (dob.length !== 4 && dob.length !== 7 && dob.length !== 10) return null
  for (let i = 0; i < dob.length; i += 1) {
    const code = dob.charCodeAt(i)
    const fits = i === 4 || i === 7 ? code === 45 : code >= 48 && code <= 57
    if (!fits) return null
  }
  return dob.slice(0, 4)
}

/** Absorbs the rounding of the bounds; the scores themselves are never rounded. */
const slack = 1e-9
const bucketPrefix = 2
/**
 * The l of the prefix filter: how many rare characters two texts must share before they are compared. At most 3 (see
 * #met).
 */
const sharedAhead = 3

/** Characters two texts must share for a Jaro likeness; more than either has when it is out of reach. */
const sharedNeeded = (jaroScore: number, a: number, b: number): number =>
  Math.ceil(((3 * jaroScore - 1) * a * b) / (a + b) - slack)

/** Numbers every (character, occurrence), rarest first, from the list as loaded; later ones count as rarer still. */
class MemberOrder {
  readonly #ranks = new Map<number, number>()
  #next = -1

  constructor(texts: ReadonlyArray<string>) {
    const counts = new Map<number, number>()
    for (const text of texts) for (const key of MemberOrder.#keys(text)) counts.set(key, (counts.get(key) ?? 0) + 1)
    const rarestFirst = [...counts].toSorted((x, y) => x[1] - y[1] || x[0] - y[0])
    for (const [rank, [key]] of rarestFirst.entries()) this.#ranks.set(key, rank)
  }

  static #keys(text: string): Array<number> {
    const seen = new Map<number, number>()
    const keys: Array<number> = []
    for (let i = 0; i < text.length; i += 1) {
      const code = text.charCodeAt(i)
      const occurrence = seen.get(code) ?? 0
      seen.set(code, occurrence + 1)
      keys.push(occurrence * 65_536 + code)
    }
    return keys
  }

  /** Members of a text. `learn` gives numbers to new ones; a question leaves them as strangers, which match nothing. */
  form(text: string, learn: boolean): Form {
    const members = Int32Array.from(MemberOrder.#keys(text), (key) => {
      const known = this.#ranks.get(key)
      if (known !== undefined) return known
      if (!learn) return -2_147_483_648
      this.#ranks.set(key, this.#next)
      this.#next -= 1
      return this.#next + 1
    })
    return { text, members: members.sort() }
  }
}

/** Are at least `needed` members common? Stops as soon as the answer is certain. */
const shareAtLeast = (a: Int32Array, b: Int32Array, needed: number): boolean => {
  let spareA = a.length - needed
  let spareB = b.length - needed
  let found = 0
  let i = 0
  let j = 0
  while (found < needed && spareA >= 0 && spareB >= 0) {
    const left = a[i] ?? 0
    const right = b[j] ?? 0
    if (left === right) found += 1
    if (left < right) spareA -= 1
    if (right < left) spareB -= 1
    if (left <= right) i += 1
    if (right <= left) j += 1
  }
  return found >= needed
}

/** Can the two texts reach this Jaro-Winkler likeness? Never wrongly no. */
const mayReach = (a: Form, b: Form, likeness: number): boolean => {
  const prefix = commonPrefix(a.text, b.text)
  const needed = sharedNeeded(jaroNeeded(likeness, prefix), a.text.length, b.text.length)
  return needed <= Math.min(a.text.length, b.text.length) && shareAtLeast(a.members, b.members, needed)
}

/** The same numbers with room for one more slot. */
const widened = (numbers: Uint32Array<ArrayBuffer>, slot: number): Uint32Array<ArrayBuffer> => {
  if (slot < numbers.length) return numbers
  const wider = new Uint32Array(numbers.length * 2)
  wider.set(numbers)
  return wider
}

const append = (map: Map<string, Array<number>>, key: string, slot: number): void => {
  const slots = map.get(key)
  if (slots === undefined) map.set(key, [slot])
  else slots.push(slot)
}

/** Which of the first characters of a text, rarest first, may take part in the l of the prefix filter. */
const prefixLength = (length: number, shared: number): number => length - shared + Math.min(sharedAhead, shared)

/** Texts to slots, for one floor of likeness. */
class NameIndex {
  readonly #jaroFloor: number
  readonly #byBeginning = new Map<string, Array<number>>()
  /** text length -> member -> position of the member in the sorted text -> slots */
  readonly #postings = new Map<number, Map<number, Array<Array<number>>>>()
  /** By slot: the round it was last met in, times four, plus how often (at most `sharedAhead`). */
  #met = new Uint32Array(1024)
  #round = 0

  constructor(floor: number) {
    this.#jaroFloor = jaroNeeded(floor, bucketPrefix - 1)
    // Below 2/3 a text could match with none of its characters required, and the index would prove nothing.
    if (this.#jaroFloor <= 2 / 3) throw new RangeError("The likeness floor is too low to index.")
  }

  add(form: Form, slot: number): void {
    const length = form.text.length
    append(this.#byBeginning, form.text.slice(0, bucketPrefix), slot)
    this.#met = widened(this.#met, slot)
    let postings = this.#postings.get(length)
    if (postings === undefined) this.#postings.set(length, (postings = new Map()))
    // The least any partner can require is (3j - 2) of our own length: a partner wholly contained in this text.
    const least = Math.max(1, Math.ceil((3 * this.#jaroFloor - 2) * length - slack))
    for (let position = 0; position < prefixLength(length, least); position += 1) {
      const member = form.members[position] ?? 0
      let lists = postings.get(member)
      if (lists === undefined) postings.set(member, (lists = []))
      while (lists.length <= position) lists.push([])
      lists[position]?.push(slot)
    }
  }

  /** Visits every slot whose text may reach the floor, possibly more than once, and some that do not. */
  visit(form: Form, visit: (slot: number) => void): void {
    for (const slot of this.#byBeginning.get(form.text.slice(0, bucketPrefix)) ?? []) visit(slot)
    for (const [other, postings] of this.#postings) {
      const shared = Math.max(1, sharedNeeded(this.#jaroFloor, form.text.length, other))
      if (shared <= Math.min(form.text.length, other)) this.#visitLength(form, other, shared, postings, visit)
    }
  }

  #visitLength(
    form: Form,
    other: number,
    shared: number,
    postings: ReadonlyMap<number, ReadonlyArray<ReadonlyArray<number>>>,
    visit: (slot: number) => void
  ): void {
    const zero = this.#nextRound()
    const enough = zero + Math.min(sharedAhead, shared)
    const met = this.#met
    for (let k = 0; k < prefixLength(form.text.length, shared); k += 1) {
      const lists = postings.get(form.members[k] ?? 0)
      if (lists === undefined) continue
      const end = Math.min(prefixLength(other, shared), lists.length)
      for (let i = 0; i < end; i += 1)
        for (const slot of lists[i] ?? []) {
          const times = Math.max(met[slot] ?? 0, zero) + 1
          if (times > enough) continue
          met[slot] = times
          if (times === enough) visit(slot)
        }
    }
  }

  #nextRound(): number {
    if (this.#round >= 1_000_000_000) {
      this.#met.fill(0)
      this.#round = 0
    }
    this.#round += 1
    return this.#round * 4
  }
}

/** The list. Entries come and go one by one as the published lists change; an id added again replaces the old entry. */
export class WatchList {
  readonly #order: MemberOrder
  readonly #floors: Floors
  readonly #slotOf = new Map<number, number>()
  #slots: Array<Listed | null> = []
  #sanctionsByDob = new Map<string, Array<number>>()
  #pepByYear = new Map<string, Array<number>>()
  #dated: NameIndex
  #undated: NameIndex
  #seen = new Uint32Array(1024)
  #round = 0

  constructor(entries: ReadonlyArray<WatchEntry>, floors: Floors) {
    this.#floors = floors
    this.#dated = new NameIndex(floors.dated)
    this.#undated = new NameIndex(floors.undated)
    this.#order = new MemberOrder(entries.map((entry) => listedForms(entry.name).full))
    for (const entry of entries) this.add(entry)
  }

  /** Number of entries. */
  get size(): number {
    return this.#slotOf.size
  }

  add(entry: WatchEntry): void {
    this.remove(entry.entryId)
    const forms = listedForms(entry.name)
    const texts = forms.short === forms.full ? [forms.full] : [forms.full, forms.short]
    this.#place({ entry, forms, prepared: texts.map((text) => this.#order.form(text, true)) })
  }

  remove(entryId: number): void {
    const slot = this.#slotOf.get(entryId)
    if (slot === undefined) return
    this.#slots[slot] = null
    this.#slotOf.delete(entryId)
    if (this.#slots.length > 2 * this.size + 1024) this.#compact()
  }

  query(forms: NameForms): Query {
    const texts = forms.short === forms.full ? [forms.full] : [forms.full, forms.short]
    return { prepared: texts.map((text) => this.#order.form(text, false)) }
  }

  /**
   * Visits once each entry that may matter: sanctions entries with the client's very birth date, politically exposed
   * persons of the client's year of birth, and all whose name may reach the floor of their kind. A client without a
   * birth date weighs dated entries like undated ones, for which no index stands: all are visited.
   */
  visitCandidates(query: Query, dob: string | null, visit: (listed: Listed) => void): void {
    this.#round += 1
    const once = (slot: number): void => {
      if (this.#seen[slot] === this.#round) return
      this.#seen[slot] = this.#round
      const listed = this.#slots[slot]
      if (listed !== null && listed !== undefined) visit(listed)
    }
    const year = dob === null ? null : yearOfBirth(dob)
    if (dob === null || year === null) {
      for (let slot = 0; slot < this.#slots.length; slot += 1) once(slot)
      return
    }
    for (const slot of this.#sanctionsByDob.get(dob) ?? []) once(slot)
    for (const slot of this.#pepByYear.get(year) ?? []) once(slot)
    for (const form of query.prepared) {
      this.#dated.visit(form, once)
      this.#undated.visit(form, once)
    }
  }

  /** Cheap test before the exact comparison: false only when no pair of forms can reach the likeness. */
  mayReach(query: Query, listed: Listed, likeness: number): boolean {
    for (const asked of query.prepared)
      for (const form of listed.prepared) if (mayReach(asked, form, likeness)) return true
    return false
  }

  #place(listed: Listed): void {
    const slot = this.#slots.push(listed) - 1
    this.#slotOf.set(listed.entry.entryId, slot)
    this.#seen = widened(this.#seen, slot)
    const { dob, list } = listed.entry
    const year = dob === null ? null : yearOfBirth(dob)
    if (list === "PEP" && year !== null) {
      append(this.#pepByYear, year, slot)
      return
    }
    if (list === "SANCTIONS" && dob !== null) append(this.#sanctionsByDob, dob, slot)
    const index = list === "SANCTIONS" && dob !== null ? this.#dated : this.#undated
    for (const form of listed.prepared) index.add(form, slot)
  }

  /** Removed entries leave holes behind in the postings; when they outnumber the living, everything is placed anew. */
  #compact(): void {
    const living = this.#slots.filter((listed) => listed !== null)
    this.#slots = []
    this.#slotOf.clear()
    this.#sanctionsByDob = new Map()
    this.#pepByYear = new Map()
    this.#dated = new NameIndex(this.#floors.dated)
    this.#undated = new NameIndex(this.#floors.undated)
    for (const listed of living) this.#place(listed)
  }
}
