/**
 * Tools for deliberate faults: they change a simulated process's commits, their outcomes, or the rows that the store
 * shows.
 */
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { Journal, Outcome } from "../../src/runtime/engine/journal/Journal.ts"
import type { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"
import type { TableName, Tables } from "../../src/runtime/tables/Catalogue.ts"
import type { Invariant } from "./Findings.ts"
import { bentStore } from "./ObservedStore.ts"
import type { Seams } from "./SimProcess.ts"

export interface Mutation {
  readonly name: string
  /** The invariants that notice the fault. In single seeds another one may notice it first. */
  readonly shows: ReadonlyArray<Invariant>
  /** New seams for one run. */
  readonly seams: () => Seams
}

/** Changes every commit before it is written. */
export const commits = (bend: (commit: Commit, store: MemoryStore) => Commit): Seams => ({
  store: (store) => bentStore(store, { apply: (commit) => store.apply(bend(commit, store)) })
})

export const without = (commit: Commit, ...tables: ReadonlyArray<keyof Commit["rows"]>): Commit => ({
  ...commit,
  rows: Object.fromEntries(Object.entries(commit.rows).filter(([table]) => !tables.includes(table as never)))
})

export const only = (commit: Commit, table: keyof Commit["rows"]): Commit => ({
  fence: null,
  partner: null,
  claims: [],
  releases: [],
  clearedTimers: [],
  endedCalls: [],
  rows: { [table]: commit.rows[table] }
})

type Submit = Journal["Service"]["submit"]

/** Replaces the journal's `submit`. */
export const journal = (submit: (inner: Submit) => Submit): Seams => ({
  journal: (inner) => ({ ...inner, submit: submit((commit, done, lane) => inner.submit(commit, done, lane)) })
})

/** Changes the outcomes that the host receives. */
export const told = (bend: (outcome: Outcome) => Outcome | null): Seams =>
  journal((submit) => (commit, done) => {
    submit(commit, (outcome) => {
      const word = bend(outcome)
      if (word !== null) done(word)
    })
  })

export const anyToken = (commit: Commit, store: MemoryStore): Commit =>
  commit.fence === null
    ? commit
    : { ...commit, fence: { ...commit.fence, expected: store.image(commit.fence.subject).token } }

export const anyEpoch = (commit: Commit, store: MemoryStore): Commit => {
  const row = store.rows("partners").find(({ id }) => id === commit.partner?.partnerId)
  return row === undefined ? commit : { ...commit, partner: { partnerId: row.id, epoch: row.epoch } }
}

export const nameOf = ({ principal, key }: Tables["answers"]): string => `${principal} ${key}`

/** True if a commit stores an answer under a key that already has one. */
export const isTaken = (commit: Commit, store: MemoryStore): boolean => {
  const names = new Set(store.rows("answers").map(nameOf))
  return commit.rows.answers?.some((answer) => names.has(nameOf(answer))) === true
}

/** Changes the rows of one table that the store shows, as after manipulation of the database. */
export const tampered = <T extends TableName>(
  table: T,
  bend: (rows: ReadonlyArray<Tables[T]>) => ReadonlyArray<Tables[T]>
): Seams => ({
  storage: (store) => {
    const rows = store.rows.bind(store)
    store.rows = (name) =>
      (name as TableName) === table
        ? (bend(rows(table)) as unknown as ReturnType<typeof rows<typeof name>>)
        : rows(name)
  }
})
