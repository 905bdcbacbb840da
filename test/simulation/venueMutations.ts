/**
 * Deliberate faults in the communication with the venue: calls, their outcomes, events and the cursor (see
 * mutations.ts).
 */
import { Effect, Stream } from "effect"
import type { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"
import type { VenueShape } from "../../src/runtime/ports/Venue.ts"
import { commits, type Mutation } from "./bends.ts"
import { bentStore } from "./ObservedStore.ts"

/** A process that reads a changed sequence of the last applied event of an account. */
const otherSequences = (bend: (sequence: number) => number) => ({
  store: (store: MemoryStore) =>
    bentStore(store, {
      image: (subject) => {
        const { token, rows } = store.image(subject)
        return {
          token,
          rows: rows.map((entry) =>
            entry.table === "venueAccounts"
              ? { ...entry, row: { ...entry.row, sequence: bend(entry.row.sequence) } }
              : entry
          )
        }
      }
    })
})

/** A process with a changed connection to the venue. */
const otherVenue = (bend: (venue: VenueShape) => Partial<VenueShape>) => ({
  venue: (venue: VenueShape): VenueShape => ({ ...venue, ...bend(venue) })
})

export const venueMutations: ReadonlyArray<Mutation> = [
  {
    name: "a venue call is made twice",
    shows: ["venue"],
    seams: () =>
      otherVenue((venue) => ({
        write: (name, request) => Effect.andThen(venue.write(name, request), venue.write(name, request))
      }))
  },
  {
    name: "the venue is called for what no commit asked for",
    shows: ["venue"],
    seams: () =>
      otherVenue((venue) => ({
        write: (name, request) =>
          Effect.andThen(venue.write(name, request), venue.write(name, { ...request, ref: `${request.ref}000000` }))
      }))
  },
  {
    name: "what the venue does not find is believed without voiding",
    shows: ["venue"],
    seams: () =>
      otherVenue((venue) => ({
        voidRefs: (refs) =>
          Effect.map(venue.lookup(refs), (found) =>
            found.map((one) => (one.outcome === "UNKNOWN" ? { ...one, outcome: "VOID" } : one))
          )
      }))
  },
  {
    name: "a lost answer of the venue is forgotten",
    shows: ["defects"],
    seams: () => otherVenue(() => ({ voidRefs: () => Effect.succeed([]) }))
  },
  {
    name: "a void is believed without asking the venue",
    shows: ["venue"],
    seams: () =>
      otherVenue(() => ({
        voidRefs: (refs) => Effect.succeed(refs.map((ref) => ({ ...nothing, ref, outcome: "VOID" as const })))
      }))
  },
  {
    name: "a call whose answer is lost is made again",
    shows: ["venue"],
    seams: () =>
      otherVenue((venue) => ({
        write: (name, request) => Effect.catch(venue.write(name, request), () => venue.write(name, request))
      }))
  },
  {
    name: "an event of the venue is applied twice",
    shows: ["venue"],
    seams: () => otherSequences((sequence) => sequence - 1)
  },
  {
    name: "a gap in an account's events is passed over",
    shows: ["venue"],
    seams: () => otherSequences((sequence) => sequence + 1)
  },
  {
    name: "an account that is read again gives nothing",
    shows: ["venue"],
    seams: () => otherVenue(() => ({ accountEvents: () => Effect.succeed([]) }))
  },
  {
    name: "the cursor of the venue's events runs ahead of their commits",
    shows: ["venue"],
    seams: () =>
      commits((commit) => {
        const { venueCursor } = commit.rows
        if (venueCursor === undefined) return commit
        return {
          ...commit,
          rows: { ...commit.rows, venueCursor: venueCursor.map((row) => ({ ...row, number: row.number + 1 })) }
        }
      })
  },
  {
    name: "what an account has of the venue is counted wrong",
    shows: ["venue"],
    seams: () =>
      commits((commit) => {
        const { balances } = commit.rows
        if (balances === undefined) return commit
        const more = balances.map((row) =>
          row.fromVenue === 0n ? row : { ...row, fromVenue: row.fromVenue + 1_000_000n }
        )
        return { ...commit, rows: { ...commit.rows, balances: more } }
      })
  },
  {
    name: "what the venue's stream says is not listened to",
    shows: ["liveness"],
    seams: () =>
      otherVenue((venue) => ({
        events: (after) => Stream.filter(venue.events(after), (line) => "heartbeat" in line)
      }))
  }
]

const nothing = { reason: null, at: 0, order: null, rfq: null, contract: null, swap: null } as const
