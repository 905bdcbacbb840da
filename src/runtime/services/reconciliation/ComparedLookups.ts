/**
 * The lookups of one comparison. If the venue does not answer the lookup of an object, the comparison leaves that object out and
 * names it. The account's other objects are compared all the same, and the object does not count as unknown to the venue (A2-103).
 */
import { Clock, Effect } from "effect"
import { firstOf } from "../../../machines/shared/Text.ts"
import { lookupLimit, type VenueOutcome } from "../../../machines/venue/venueCalls.ts"
import { objectOfRef } from "../../../machines/venue/venueRefs.ts"
import { unreadableAnswer, type Venue } from "../../ports/Venue.ts"

/** The time after which the refs of one call that are still unanswered are left out, ms. */
const lookupsMost = 10_000

const lookupsUnanswered =
  "the venue has not answered all lookups of an account: the other objects are compared, and the account again in a minute"

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

  /** Logs and returns a sentence that names objects that were left out, and counts further ones; null: none was. */
  report(uid: string): Effect.Effect<string | null> {
    const objects = [...new Set(Array.from(this.leftOut, objectOfRef))]
    if (objects.length === 0) return Effect.succeed(null)
    const sentence = `The venue has not answered lookups of ${uid}; not compared: ${firstOf(objects, namedMost)}.`
    return Effect.as(Effect.annotateLogs(Effect.logWarning(lookupsUnanswered, sentence), { uid }), sentence)
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
