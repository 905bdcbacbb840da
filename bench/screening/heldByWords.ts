/**
 * Counts the clients that only the word-by-word comparison holds, against entries of the same birth date. `npm run
 * bench:held` prints the figures of 100,000 clients and 200,000 entries (F26).
 */
import { listedForms, type NameForms, type PersonForms, personForms } from "../../src/machines/screening/nameForms.ts"
import { wholeScore } from "../../src/machines/screening/sameDay.ts"
import { countryFactor, outcomeOf, scorePair, totalScore } from "../../src/machines/screening/screen.ts"
import { inventedClients, inventedEntries } from "./invented.ts"

export interface HeldByWords {
  readonly clients: number
  readonly entries: number
  /** Pairs of a client and an entry with the same birth date. */
  readonly pairs: number
  /**
   * `before`: clients that an entry of their birth date holds without the word-by-word comparison. `more`: clients that only this
   * comparison holds.
   */
  readonly before: number
  readonly more: number
}

export const heldByWords = (clients: number, entries: number, seed = 7): HeldByWords => {
  // Names are compared word by word only for the same birth date.
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
