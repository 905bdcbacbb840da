/** Deliberate faults around the operator: reviews, lists, four eyes, breaks, payouts, documents (see mutations.ts). */
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"
import type { TableName } from "../../src/runtime/tables/Catalogue.ts"
import type { ClientRow } from "../../src/runtime/tables/client.ts"
import { commits, type Mutation, without } from "./bends.ts"
import { bentStore } from "./ObservedStore.ts"

/** Drops the claims whose names begin with the prefix from each commit. */
const unclaimed = (prefix: string, owner: (owner: number) => boolean = () => true) =>
  commits((commit) => ({
    ...commit,
    claims: commit.claims.filter((claim) => !claim.name.startsWith(prefix) || !owner(claim.owner))
  }))

/** A process that reads changed client rows. */
const otherClients = (bend: (row: ClientRow) => ClientRow) => ({
  store: (store: MemoryStore) =>
    bentStore(store, {
      image: (subject) => {
        const { token, rows } = store.image(subject)
        return {
          token,
          rows: rows.map((entry) => (entry.table === "clients" ? { ...entry, row: bend(entry.row) } : entry))
        }
      }
    })
})

/** A process that reads a table as empty; its mailboxes have their rows. */
const withoutRows = (hidden: TableName) => ({
  store: (store: MemoryStore) =>
    bentStore(store, {
      rows: (table) => ((table as TableName) === hidden ? [] : store.rows(table))
    })
})

const isOfPass = ({ rows }: Commit): boolean => rows.screeningRuns?.some(({ passId }) => passId !== null) === true

const withoutRemovals = (commit: Commit): Commit => {
  const { watchEntries } = commit.rows
  if (commit.rows.watchImports === undefined || watchEntries === undefined) return commit
  return {
    ...commit,
    rows: { ...commit.rows, watchEntries: watchEntries.filter(({ removedAt }) => removedAt === null) }
  }
}

export const operatorMutations: ReadonlyArray<Mutation> = [
  {
    name: "a re-onboarding does not look at the cases that hold the client",
    shows: ["review"],
    seams: () => otherClients((row) => ({ ...row, context: { ...row.context, openCases: [] } }))
  },
  {
    name: "items that are not settled do not keep a person from being refused",
    shows: ["ends"],
    seams: () => withoutRows("settlementItems")
  },
  {
    name: "a test is not stored with the level that rests on it",
    shows: ["level"],
    seams: () => commits((commit) => without(commit, "assessments"))
  },
  {
    name: "a document is filed without its content",
    shows: ["documents"],
    seams: () => ({
      storage: (store) => {
        const apply = store.apply.bind(store)
        store.apply = (commit) => (commit.rows.documentContents === undefined ? apply(commit) : { _tag: "Committed" })
      }
    })
  },
  {
    name: "a document is deleted and its content stays",
    shows: ["documents"],
    seams: () =>
      commits((commit) => (commit.rows.documents === undefined ? commit : without(commit, "documentContents")))
  },
  {
    name: "a pass goes on without what it has found",
    shows: ["screening"],
    seams: () => commits((commit) => (isOfPass(commit) ? without(commit, "screeningRuns", "cases", "clients") : commit))
  },
  {
    name: "an import takes nothing off the list",
    shows: ["lists"],
    seams: () => commits(withoutRemovals)
  },
  {
    name: "an approval is not used up",
    shows: ["four-eyes"],
    seams: () => unclaimed("approval:")
  },
  {
    name: "a revoked operator key ends nothing that is on its way",
    shows: ["four-eyes"],
    seams: () => unclaimed("approval:", (owner) => owner === 0)
  },
  {
    name: "a process that starts does not read the open breaks",
    shows: ["breaks"],
    seams: () => withoutRows("reconBreaks")
  },
  {
    name: "a payout's reference is not claimed",
    shows: ["payouts"],
    seams: () => unclaimed("payout:")
  }
]
