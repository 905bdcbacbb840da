/** Deliberate faults in the trade of knock-out contracts: accepts, holds, ends, late objects (see mutations.ts). */
import { Effect, Stream } from "effect"
import type { VenueEvent } from "../../src/machines/venue/VenueEvent.ts"
import type { VenueOutcome } from "../../src/machines/venue/venueCalls.ts"
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"
import type { VenueShape } from "../../src/runtime/ports/Venue.ts"
import { journal, type Mutation } from "./bends.ts"
import { bentStore } from "./ObservedStore.ts"

const nothing = { order: null, rfq: null, contract: null, swap: null } as const
/** The outcome that a caller gets if it takes a missing answer of the venue for a refusal. */
export const refusedBySilence = (ref: string): VenueOutcome => ({
  ...nothing,
  ref,
  outcome: "REFUSED",
  reason: "silence",
  at: 0
})
const isAccept = (ref: string): boolean => ref.startsWith("A-")

/** A process that reads ended contracts as open, and one event less as applied for the account. */
const endsForgotten = (store: MemoryStore): MemoryStore =>
  bentStore(store, {
    image: (subject) => {
      const { token, rows } = store.image(subject)
      const before = rows.map((entry) =>
        entry.table === "venueAccounts" ? { ...entry, row: { ...entry.row, sequence: entry.row.sequence - 1 } } : entry
      )
      const ended = store
        .rows("barrierContracts")
        .filter(({ clientId, state }) => `client:${clientId}` === subject && state !== "OPEN")
        .map((row) => ({
          table: "barrierContracts" as const,
          row: { ...row, state: "OPEN" as const, closedAt: null, pnl: null }
        }))
      return { token, rows: [...before, ...ended] }
    }
  })

/** Changes the keys of settlements, so that the ledger accepts a second one. */
const withOtherKeys = (commit: Commit): Commit => {
  const { ledgerTransactions } = commit.rows
  if (ledgerTransactions === undefined) return commit
  const renamed = ledgerTransactions.map((row) =>
    row.type === "BARRIER_SETTLE" ? { ...row, key: `${row.key}:${row.txId}` } : row
  )
  return { ...commit, rows: { ...commit.rows, ledgerTransactions: renamed } }
}

/** A connection to the venue on which a contract of an ended request names no object of the service. */
const lateContractsLost = (venue: VenueShape, store: () => MemoryStore | null): VenueShape => {
  const isOver = (ref: string): boolean => {
    const row = store()
      ?.rows("rfqs")
      .find(({ id }) => ref.startsWith(`A-${id}-`))
    return row !== undefined && ["CANCELLED", "EXPIRED"].includes(row.state)
  }
  const lose = <Line extends object>(line: Line | VenueEvent): Line | VenueEvent => {
    if (!("fact" in line) || line.fact.type !== "contract" || !isOver(line.fact.contract.ref)) return line
    const contract = { ...line.fact.contract, ref: "A-999999-1" }
    return { ...line, fact: { ...line.fact, contract } }
  }
  return {
    ...venue,
    events: (after) => Stream.map(venue.events(after), (line) => lose(line)),
    accountEvents: (account, after) =>
      Effect.map(venue.accountEvents(account, after), (lines) => lines.map((line) => lose(line)))
  }
}

export const contractMutations: ReadonlyArray<Mutation> = [
  {
    name: "a margin call is not recorded with what made it",
    shows: ["margin"],
    seams: () =>
      journal((submit) => (commit, done) => {
        const { riskMonitors: _, ...rows } = commit.rows
        submit({ ...commit, rows }, done)
      })
  },
  {
    name: "the silence of the venue is taken for a refusal",
    shows: ["accepts"],
    seams: () => ({
      venue: (venue) => ({
        ...venue,
        write: (name, request) =>
          Effect.catch(venue.write(name, request), (error) =>
            isAccept(request.ref) ? Effect.succeed(refusedBySilence(request.ref)) : Effect.fail(error)
          )
      })
    })
  },
  {
    name: "the hold of an accept is freed when the venue does not say what became of it",
    shows: ["accepts"],
    seams: () => ({
      venue: (venue) => ({
        ...venue,
        voidRefs: (refs) =>
          Effect.catch(venue.voidRefs(refs), () =>
            Effect.succeed(
              refs.map((ref) =>
                isAccept(ref) ? refusedBySilence(ref) : { ...refusedBySilence(ref), outcome: "UNKNOWN" }
              )
            )
          )
      })
    })
  },
  {
    name: "the venue is called before the commit that asks for it",
    shows: ["venue"],
    seams: () => {
      let reached: VenueShape | null = null
      return {
        venue: (venue) => (reached = venue),
        ...journal((submit) => (commit, done) => {
          for (const { call, request, ref } of commit.rows.venueCalls ?? []) {
            if (reached !== null) Effect.runFork(Effect.ignore(reached.write(call, { ...request, ref } as never)))
          }
          submit(commit, done)
        })
      }
    }
  },
  {
    name: "a second end of a contract is applied",
    shows: ["contracts"],
    seams: () => ({
      store: (store) =>
        bentStore(endsForgotten(store), {
          apply: (commit) => store.apply(withOtherKeys(commit))
        })
    })
  },
  {
    name: "a quote is accepted after its time",
    shows: ["accepts"],
    seams: () => ({
      venue: (venue) => ({
        ...venue,
        events: (after) =>
          Stream.map(venue.events(after), (line) => {
            if (!("fact" in line) || line.fact.type !== "quote") return line
            const quote = {
              ...line.fact.quote,
              state: "LIVE" as const,
              validUntil: line.fact.quote.validUntil + 3_600_000
            }
            return { ...line, fact: { ...line.fact, quote } }
          })
      })
    })
  },
  {
    name: "what the venue executed of a request that is over is dropped",
    shows: ["venue"],
    seams: () => {
      let seen: MemoryStore | null = null
      return {
        store: (store) => (seen = store),
        venue: (venue) => lateContractsLost(venue, () => seen)
      }
    }
  }
]
