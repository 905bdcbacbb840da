/** Deliberate faults in the trade of staking swaps: takes in doubt, payments that come again (see mutations.ts). */
import { Effect } from "effect"
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"
import type { Mutation } from "./bends.ts"
import { refusedBySilence } from "./contractMutations.ts"
import { bentStore } from "./ObservedStore.ts"

/** Payments under keys of their own, so that the ledger takes a second one. */
const withOtherKeys = (commit: Commit): Commit => {
  const { ledgerTransactions } = commit.rows
  if (ledgerTransactions === undefined) return commit
  const renamed = ledgerTransactions.map((row) =>
    row.type === "SWAP_SETTLE" ? { ...row, key: `${row.key}:${row.txId}` } : row
  )
  return { ...commit, rows: { ...commit.rows, ledgerTransactions: renamed } }
}

/** A process to which a swap looks unpaid when it is read back. */
const paymentsForgotten = (store: MemoryStore): MemoryStore =>
  bentStore(store, {
    image: (subject) => {
      const { token, rows } = store.image(subject)
      const forgotten = rows.map((entry) =>
        entry.table === "swaps"
          ? { ...entry, row: { ...entry.row, paid: 0n, context: { ...entry.row.context, payments: [], paid: "0" } } }
          : entry
      )
      return { token, rows: forgotten }
    },
    apply: (commit) => store.apply(withOtherKeys(commit))
  })

export const swapMutations: ReadonlyArray<Mutation> = [
  {
    name: "the reserve of a take is freed because the venue is silent",
    shows: ["swaps"],
    seams: () => ({
      venue: (venue) => ({
        ...venue,
        write: (name, request) =>
          Effect.catch(venue.write(name, request), (error) =>
            name === "takeOffer" ? Effect.succeed(refusedBySilence(request.ref)) : Effect.fail(error)
          )
      })
    })
  },
  {
    name: "what a writer has paid is forgotten by a restart, and booked again",
    shows: ["swaps"],
    seams: () => ({ store: paymentsForgotten })
  }
]
