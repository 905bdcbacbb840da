/**
 * The lookups of one comparison. An object whose lookup the venue does not answer is left out and named: it hides no difference
 * of the account's other objects, and a missing answer does not count as an object that the venue does not know (A2-103).
 */
import { Clock, Effect } from "effect"
import { lookupLimit, type VenueOutcome } from "../../../machines/venue/venueCalls.ts"
import { objectOfRef } from "../../../machines/venue/venueRefs.ts"
import { unreadableAnswer, type Venue } from "../../ports/Venue.ts"

/** The time after which the refs of one call that are still unanswered are left out, ms. */
const lookupsMost = 10_000

/** Limit on the objects that a sentence names. */
const namedMost = 5

type Outcomes = ReadonlyArray<VenueOutcome>

export class ComparedLookups {
  /** The venue, whose `lookup` here takes any number of refs and never fails: its result lacks the objects that are left out. */
  readonly venue: Venue["Service"]
  private readonly lookupOf: Venue["Service"]["lookup"]
  private readonly leftOut = new Set<string>()

  constructor(venue: Venue["Service"]) {
    this.lookupOf = venue.lookup
    this.venue = { ...venue, lookup: (refs) => this.lookup(refs) }
  }

  /** A sentence that names objects that were left out, and counts further ones; null: none was. */
  sentence(uid: string): string | null {
    const objects = [...new Set(Array.from(this.leftOut, objectOfRef))]
    if (objects.length === 0) return null
    const further = objects.length > namedMost ? ` and ${objects.length - namedMost} further` : ""
    return `The venue has not answered lookups of ${uid}; not compared: ${objects.slice(0, namedMost).join(", ")}${further}.`
  }

  private lookup(refs: ReadonlyArray<string>): Effect.Effect<Outcomes> {
    return Effect.gen({ self: this }, function* () {
      const until = (yield* Clock.currentTimeMillis) + lookupsMost
      const found: Array<VenueOutcome> = []
      for (let at = 0; at < refs.length; at += lookupLimit)
        found.push(...(yield* this.answered(refs.slice(at, at + lookupLimit), until)))
      // An unreadable outcome has the form of an unknown object.
      for (const { ref, reason } of found) if (reason === unreadableAnswer) this.leftOut.add(ref)
      return found.filter(({ ref }) => !this.leftOut.has(ref))
    })
  }

  /** Halves a request that the venue does not answer, so that one object which it can't answer hides no other. */
  private answered(refs: ReadonlyArray<string>, until: number): Effect.Effect<Outcomes> {
    return Effect.gen({ self: this }, function* () {
      if ((yield* Clock.currentTimeMillis) < until) {
        const outcomes = yield* Effect.catch(this.lookupOf(refs), () => Effect.succeed(null))
        if (outcomes !== null) return outcomes
        const half = refs.length >> 1
        if (half > 0) {
          const first = yield* this.answered(refs.slice(0, half), until)
          return [...first, ...(yield* this.answered(refs.slice(half), until))]
        }
      }
      for (const ref of refs) this.leftOut.add(ref)
      return []
    })
  }
}
