/**
 * Watch lists and clients from invented people. Entries have the form of published lists: the surname comes first or last, every
 * second person has aliases (another script, initials, a misspelling, a missing word), and birth dates are complete, a year alone,
 * or missing. One client in ten is a listed person under a slightly different spelling.
 */
import type { ScreenedPerson } from "../../src/machines/screening/screen.ts"
import type { WatchEntry } from "../../src/machines/screening/WatchList.ts"
import { makePerson, type Person, pick, type Random, randomFrom, type Word } from "./names.ts"

const sanctionsShare = 0.4
const listedClients = 0.1

/** Removes, doubles or swaps one letter. */
const misspelt = (text: string, random: Random): string => {
  const at = 1 + Math.floor(random() * Math.max(1, text.length - 2))
  const kind = Math.floor(random() * 3)
  if (kind === 0) return text.slice(0, at) + text.slice(at + 1)
  if (kind === 1) return text.slice(0, at) + text.charAt(at) + text.slice(at)
  return text.slice(0, at) + text.charAt(at + 1) + text.charAt(at) + text.slice(at + 2)
}

type Spelling = (word: Word) => string
const latin: Spelling = (word) => word.latin
const native: Spelling = (word) => word.native

const written = ({ first, middle, last }: Person, spell: Spelling, random: Random): string => {
  const given = [first, middle].filter((word) => word !== null).map(spell)
  const shape = random()
  if (shape < 0.5) return `${spell(last).toUpperCase()}, ${given.join(" ")}`
  return shape < 0.8 ? [...given, spell(last)].join(" ") : [spell(last), ...given].join(" ")
}

const aliasOf = (person: Person, random: Random): string =>
  pick(random, [
    () => written(person, native, random),
    () => misspelt(written(person, latin, random), random),
    () => written({ ...person, middle: null }, latin, random),
    () => `${person.first.latin.charAt(0)}. ${person.last.latin}`,
    () => written({ ...person, middle: makePerson(random).first }, latin, random)
  ])()

const aliasCount = (random: Random): number => (random() < 0.5 ? 0 : 1 + Math.floor(random() * 4))

/** A birth date as a list states it: complete, or only its year, or missing. */
const listedDob = (dob: string, random: Random): string | null => {
  const known = random()
  if (known < 0.7) return dob
  return known < 0.88 ? dob.slice(0, 4) : null
}

/** `count` entries with ids from `firstId` on. */
export const makeEntries = (count: number, seed: number, firstId = 1): ReadonlyArray<WatchEntry> => {
  const random = randomFrom(seed)
  const entries: Array<WatchEntry> = []
  while (entries.length < count) {
    const person = makePerson(random)
    const list = random() < sanctionsShare ? "SANCTIONS" : "PEP"
    const dob = listedDob(person.dob, random)
    const country = random() < 0.85 ? person.country : null
    const aliases = Array.from({ length: aliasCount(random) }, () => aliasOf(person, random))
    const names = [...new Set([written(person, latin, random), ...aliases])]
    for (const name of names.slice(0, count - entries.length)) {
      entries.push({ entryId: firstId + entries.length, list, name, dob, country, source: "bench-1" })
    }
  }
  return entries
}

const screened = ({ first, middle, last, dob, country }: Person): ScreenedPerson => ({
  firstName: first.latin,
  middleName: middle?.latin ?? null,
  lastName: last.latin,
  dob,
  nationalities: [country]
})

/** The listed person as a client whose surname has lost or gained a letter. */
const alike = (entry: WatchEntry, person: Person, random: Random): ScreenedPerson => {
  const words = entry.name.replace(",", "").split(" ")
  const [last = "X", ...given] = words
  return {
    firstName: given[0] ?? person.first.latin,
    middleName: given[1] ?? null,
    lastName: misspelt(last, random),
    dob: entry.dob !== null && entry.dob.length === 10 ? entry.dob : person.dob,
    nationalities: [entry.country ?? person.country]
  }
}

export const makeClients = (
  count: number,
  seed: number,
  entries: ReadonlyArray<WatchEntry>
): ReadonlyArray<ScreenedPerson> => {
  const random = randomFrom(seed)
  return Array.from({ length: count }, () => {
    const person = makePerson(random)
    return random() < listedClients ? alike(pick(random, entries), person, random) : screened(person)
  })
}
