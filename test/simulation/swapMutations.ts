/** Deliberate faults in the trade of staking swaps: takes in doubt, repeated payments, claims (see mutations.ts). */
import { Effect } from "effect"
import { formatAmount, minorOf } from "../../src/machines/shared/Money.ts"
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"
import type { SubjectState } from "../../src/runtime/engine/mailbox/SubjectState.ts"
import type { SwapRow } from "../../src/runtime/tables/swap.ts"
import { commits, type Mutation } from "./bends.ts"
import { refusedBySilence } from "./contractMutations.ts"
import { bentStore } from "./ObservedStore.ts"

/** Changes the keys of payments, so that the ledger accepts a second one. */
const withOtherKeys = (commit: Commit): Commit => {
  const { ledgerTransactions } = commit.rows
  if (ledgerTransactions === undefined) return commit
  const renamed = ledgerTransactions.map((row) =>
    row.type === "SWAP_SETTLE" ? { ...row, key: `${row.key}:${row.txId}` } : row
  )
  return { ...commit, rows: { ...commit.rows, ledgerTransactions: renamed } }
}

/** A process that reads paid swaps as unpaid. */
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

/** Takes the service's share from the whole payment, principal included. */
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

/** Keeps write-offs unchanged after later payments, so that the claim becomes negative. */
const writeOffStands = (commit: Commit): Commit => {
  const { swaps } = commit.rows
  if (swaps === undefined) return commit
  const standing = swaps.map((row) => {
    const writtenOff = row.context.writeOffs.reduce((sum, { amount }) => sum + minorOf(amount, "USDC"), 0n)
    return { ...row, writtenOff, context: { ...row.context, writtenOff: formatAmount(writtenOff, "USDC") } }
  })
  return { ...commit, rows: { ...commit.rows, swaps: standing } }
}

/** A state that shows defaulted swaps as open. */
const defaultsUnseen = (state: SubjectState): SubjectState => {
  const all: SubjectState["all"] = (table) => {
    const rows = state.all(table)
    return table === "swaps"
      ? ((rows as ReadonlyArray<SwapRow>).map((row) => ({ ...row, state: "OPEN" as const })) as unknown as typeof rows)
      : rows
  }
  const seen: SubjectState = Object.assign(Object.create(state) as SubjectState, {
    all,
    derived: ((view) => view.read(seen)) as SubjectState["derived"]
  })
  return seen
}

export const swapMutations: ReadonlyArray<Mutation> = [
  {
    name: "the reserve of a take is freed because the venue is silent",
    shows: ["swaps"],
    seams: () => ({
      venue: (venue) => ({
        ...venue,
        // The venue executes the take, and its answer is lost.
        write: (name, request) =>
          name === "takeOffer"
            ? Effect.as(venue.write(name, request), refusedBySilence(request.ref))
            : venue.write(name, request)
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
  },
  {
    name: "money that comes after a write-off leaves less than nothing to expect",
    shows: ["swaps"],
    seams: () => commits(writeOffStands)
  },
  {
    name: "a swap in default is still shown as staked",
    shows: ["totals"],
    seams: () => ({
      showing: (host) => ({
        ...host,
        readNow: (subject, look) => host.readNow(subject, (state, facts) => look(defaultsUnseen(state), facts))
      })
    })
  }
]
