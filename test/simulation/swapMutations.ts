/** Deliberate faults in the trade of staking swaps: takes in doubt, payments that come again (see mutations.ts). */
import { Effect } from "effect"
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"
import { commits, type Mutation } from "./bends.ts"
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

/** The service takes its share of what comes back, principal and all. */
const shareOfPrincipal = (commit: Commit): Commit => {
  const { rows } = commit
  const charged = rows.ledgerTransactions?.find(({ type, refs }) => type === "COMMISSION" && "swapId" in refs)
  const swap = rows.swaps?.find(({ id }) => id === Number(charged?.refs["swapId"]))
  if (charged === undefined || swap === undefined) return commit
  const more = (swap.amount * BigInt(swap.context.commissionRewardBps)) / 10_000n
  const postings = (rows.postings ?? []).map((row) =>
    row.txId === charged.txId ? { ...row, amount: row.clientId === null ? row.amount + more : row.amount - more } : row
  )
  const balances = (rows.balances ?? []).map((row) =>
    row.clientId === swap.clientId && row.currency === swap.currency ? { ...row, cash: row.cash - more } : row
  )
  const items = rows.settlementItems?.map((row) =>
    row.txId === charged.txId ? { ...row, amount: row.amount - more } : row
  )
  return {
    ...commit,
    rows: { ...rows, postings, balances, ...(items === undefined ? {} : { settlementItems: items }) }
  }
}

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
    name: "the service's share is of the principal too",
    shows: ["swaps"],
    seams: () => commits(shareOfPrincipal)
  },
  {
    name: "what a writer has paid is forgotten by a restart, and booked again",
    shows: ["swaps"],
    seams: () => ({ store: paymentsForgotten })
  }
]
