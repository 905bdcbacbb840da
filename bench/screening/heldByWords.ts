/**
 * How many clients the likeness word by word holds that nothing else beside their birth date holds (F26). Run by itself it prints the
 * figures of 100,000 clients and 200,000 entries: `npm run bench:held`.
 */
import { listedForms, type NameForms, type PersonForms, personForms } from "../../src/machines/screening/nameForms.ts"
import { wholeScore } from "../../src/machines/screening/sameDay.ts"
import { countryFactor, outcomeOf, scorePair, totalScore } from "../../src/machines/screening/screen.ts"
import { inventedClients, inventedEntries } from "./invented.ts"

export interface HeldByWords {
  readonly clients: number
  readonly entries: number
  /** Pairs of one birth date. */
  readonly pairs: number
  /** Clients held by an entry of their birth date whatever its words, and those held word by word alone. */
  readonly before: number
  readonly more: number
}

export const heldByWords = (clients: number, entries: number, seed = 7): HeldByWords => {
  // Beside another birth date nothing is compared word by word.
  const byDay = Map.groupBy(inventedEntries(entries, seed), ({ dob }) => dob)
  const forms = new Map([...byDay.values()].flat().map(({ entryId, name }) => [entryId, listedForms(name)]))
  const found = { pairs: 0, before: 0, more: 0 }
  for (const client of inventedClients(clients, seed + 1)) {
    const own = personForms(client)
    const pairs = (byDay.get(client.dob) ?? []).map((entry) => {
      const name = whole(own, forms.get(entry.entryId))
      const score = totalScore(name, 1, countryFactor(client.nationalities, entry.country))
      return { before: outcomeOf(entry.list, score, name), now: scorePair(client, entry).outcome }
    })
    found.pairs += pairs.length
    if (pairs.some(({ before }) => before !== "CLEAR")) found.before += 1
    else if (pairs.some(({ now }) => now !== "CLEAR")) found.more += 1
  }
  return { clients, entries, ...found }
}

const whole = (own: PersonForms, listed: NameForms | undefined): number =>
  listed === undefined ? 0 : wholeScore(own, listed)

if (import.meta.main) console.log(JSON.stringify(heldByWords(100_000, 200_000)))
