/**
 * Deliberate faults in close-outs and negative balance protection: restriction, orders, write-off, stored risk states
 * (see mutations.ts).
 */
import { Effect } from "effect"
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"
import type { ActorHost, Turn } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import type { ClientRow } from "../../src/runtime/tables/client.ts"
import { commits, type Mutation, without } from "./bends.ts"

const unrestricted = (row: ClientRow): ClientRow => {
  const restrictions = row.context.restrictions.filter((each) => each !== "CLOSE_OUT")
  return { ...row, context: { ...row.context, restrictions } }
}

/** Lifts the restriction at the episode's end, whatever the state of the account. */
const liftedWithTheEpisode = (commit: Commit, store: MemoryStore): Commit => {
  const ended = (commit.rows.closeOuts ?? []).filter(({ state }) => state === "DONE").map(({ clientId }) => clientId)
  const written = commit.rows.clients ?? []
  const clients = [
    ...written,
    ...store.rows("clients").filter(({ id }) => ended.includes(id) && written.every((row) => row.id !== id))
  ].map((row) => (ended.includes(row.id) ? unrestricted(row) : row))
  return ended.length === 0 ? commit : { ...commit, rows: { ...commit.rows, clients } }
}

/** Adds so many micro-USDC to the write-off, in every row that contains its amount. */
const withMore = (commit: Commit, more: bigint): Commit => {
  const off = commit.rows.ledgerTransactions?.find(({ type }) => type === "NBP_WRITEOFF")
  if (off === undefined) return commit
  const { rows } = commit
  const postings = (rows.postings ?? []).map((row) =>
    row.txId === off.txId ? { ...row, amount: row.clientId === null ? row.amount - more : row.amount + more } : row
  )
  const balances = (rows.balances ?? []).map((row) =>
    row.clientId === off.clientId && row.currency === "USDC" ? { ...row, cash: row.cash + more } : row
  )
  const items = rows.settlementItems?.map((row) =>
    row.txId === off.txId ? { ...row, amount: row.amount + more } : row
  )
  return {
    ...commit,
    rows: { ...rows, postings, balances, ...(items === undefined ? {} : { settlementItems: items }) }
  }
}

/** Drops the write-off, its money, and the risk state that follows from it. */
const withoutWriteOff = (commit: Commit): Commit => {
  const off = commit.rows.ledgerTransactions?.find(({ type }) => type === "NBP_WRITEOFF")
  if (off === undefined) return commit
  const { rows } = commit
  const postings = (rows.postings ?? []).filter(({ txId }) => txId !== off.txId)
  const paid = rows.postings?.find((row) => row.txId === off.txId && row.clientId !== null)?.amount ?? 0n
  const balances = (rows.balances ?? []).map((row) =>
    row.clientId === off.clientId && row.currency === "USDC" ? { ...row, cash: row.cash - paid } : row
  )
  const ledgerTransactions = (rows.ledgerTransactions ?? []).filter(({ txId }) => txId !== off.txId)
  const items = rows.settlementItems?.filter(({ txId }) => txId !== off.txId)
  return without(
    {
      ...commit,
      rows: {
        ...rows,
        postings,
        balances,
        ledgerTransactions,
        ...(items === undefined ? {} : { settlementItems: items })
      }
    },
    "riskMonitors",
    "clients"
  )
}

/** Mailboxes that judge clients by the first marks that arrived, and ignore all later ones. */
const judgedByOldMarks = (host: ActorHost["Service"]): ActorHost["Service"] => {
  let old: Turn["facts"] | null = null
  const asOf = (turn: Turn): Turn => {
    if (old === null && turn.facts.marks.size > 0) old = turn.facts
    return old === null ? turn : { ...turn, facts: { ...turn.facts, marks: old.marks } }
  }
  return {
    ...host,
    onDecided: (policy, place) => host.onDecided((turn) => policy(asOf(turn)), place),
    dispatch: (command) => host.dispatch({ ...command, decide: (turn) => command.decide(asOf(turn)) })
  }
}

export const marginMutations: ReadonlyArray<Mutation> = [
  {
    name: "a close-out's orders may open",
    shows: ["episodes"],
    seams: () =>
      commits((commit) => {
        const { orders } = commit.rows
        if (orders === undefined) return commit
        const open = orders.map((row) =>
          row.context.origin === "CLOSE_OUT" ? { ...row, context: { ...row.context, reduceOnly: false } } : row
        )
        return { ...commit, rows: { ...commit.rows, orders: open } }
      })
  },
  {
    name: "the restriction is lifted with the episode, not when the account is NORMAL",
    shows: ["restriction"],
    seams: () => commits(liftedWithTheEpisode)
  },
  {
    name: "a write-off is a micro-USDC too much",
    shows: ["write-off"],
    seams: () => commits((commit) => withMore(commit, 1n))
  },
  {
    name: "a look is taken on marks that are old",
    shows: ["recorded-state"],
    seams: () => ({ watching: judgedByOldMarks })
  },
  {
    name: "a debt stays where it should be written off",
    shows: ["no-debt"],
    seams: () => commits(withoutWriteOff)
  },
  {
    name: "nobody acts on what a mark has crossed",
    shows: ["recorded-state"],
    seams: () => ({ watching: (host) => ({ ...host, dispatch: () => Effect.die(new Error("nobody")) }) })
  }
]
