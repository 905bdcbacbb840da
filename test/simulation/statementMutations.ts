/**
 * Deliberate faults in statements: missing postings, two statements of one version, a model that depends on the hour
 * (see mutations.ts).
 */
import { createHash } from "node:crypto"
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { StatementRow } from "../../src/runtime/tables/statement.ts"
import type { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"
import type { TableName } from "../../src/runtime/tables/Catalogue.ts"
import { commits, type Mutation } from "./bends.ts"
import { bentStore } from "./ObservedStore.ts"

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex")

/** Changes the new statements of a commit; superseded ones stay as they are. */
const bent = (change: (context: StatementRow["context"]) => Partial<StatementRow["context"]>) =>
  commits((commit: Commit): Commit => {
    const { statements } = commit.rows
    if (statements === undefined) return commit
    const rows = statements.map((row) =>
      row.state === "GENERATED" ? { ...row, context: { ...row.context, ...change(row.context) } } : row
    )
    return { ...commit, rows: { ...commit.rows, statements: rows } }
  })

/** The newest posting has the line after the first one, which has the last posting at the request. */
const withoutLast = (facts: string): ReadonlyArray<string> => {
  const [asked = "", , ...lines] = facts.split("\n")
  return [asked, ...lines]
}

/**
 * A process that restarts with the end-of-day run at its beginning, and without the statements that the run had made.
 */
const nightsForgotten = (store: MemoryStore): MemoryStore =>
  bentStore(store, {
    rows: (table) =>
      (table as TableName) === "statements"
        ? store.rows(table).filter((row) => (row as unknown as StatementRow).kind !== "TRANSACTIONS")
        : store.rows(table),
    image: (subject) => {
      const { token, rows } = store.image(subject)
      const begun = rows.map((entry) =>
        entry.table === "statementJobs" ? { ...entry, row: { ...entry.row, cursor: 0 } } : entry
      )
      return { token, rows: begun }
    },
    apply: (commit) =>
      store.apply({ ...commit, claims: commit.claims.filter(({ name }) => !name.startsWith("statement:")) })
  })

export const statementMutations: ReadonlyArray<Mutation> = [
  {
    name: "a statement is cut before the client's last turn",
    shows: ["statements"],
    seams: () =>
      bent(({ facts }) => {
        const [asked = "", ...lines] = withoutLast(facts)
        return { facts: [asked, ...lines].join("\n"), sha256: hashOf(lines.join("\n")) }
      })
  },
  {
    name: "two builds of one period both make its next version",
    shows: ["statements"],
    seams: () =>
      commits((commit) => ({ ...commit, claims: commit.claims.filter(({ name }) => !name.startsWith("statement:")) }))
  },
  {
    name: "a job runs twice after a crash",
    shows: ["nights"],
    seams: () => ({ store: nightsForgotten })
  },
  {
    name: "the hour of its making is in a model",
    shows: ["statements"],
    seams: () => bent(({ sha256, generatedAt }) => ({ sha256: hashOf(`${sha256} ${generatedAt}`) }))
  },
  {
    name: "a model is written in the words of the machine's locale",
    shows: ["statements"],
    seams: () =>
      bent(({ facts }) => ({
        sha256: hashOf(
          facts
            .split("\n")
            .slice(1)
            .map((line) => line.replace(/[0-9]{4,}$/, (digits) => Number(digits).toLocaleString("de-DE")))
            .join("\n")
        )
      }))
  }
]
