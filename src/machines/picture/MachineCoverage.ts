/**
 * Coverage of the machines' transitions by public scenarios, the simulation and tests, for the pictures. `npm run
 * machine-coverage` records it from decisions that really happen. Each transition also has a row in the published tables,
 * which test/machines/transitions.test.ts plays.
 */
import { firstOf, plural } from "../shared/Text.ts"

/** Coverage of one transition, or of the initial state. */
export interface Tried {
  /** Ids of scenarios, in their order. */
  readonly scenarios: ReadonlyArray<string>
  readonly simulated: boolean
  /** Test files; named only where no scenario covers the transition. */
  readonly tests: ReadonlyArray<string>
}

/** Coverage by the name of the transition's row (`rowName` in describe.ts), or by `startOf` a state. */
export type MachineCoverage = ReadonlyMap<string, Tried>

/** Kinds of coverage, the strongest first. */
export type Trial = "scenarios" | "simulation or tests" | "its row of the table"

/** The name of a creation in a state: creations have no row in a table. */
export const startOf = (state: string): string => `[*] ${state}`

const untried: Tried = { scenarios: [], simulated: false, tests: [] }

export const triedOf = (coverage: MachineCoverage, row: string): Tried => coverage.get(row) ?? untried

export const trialOf = ({ scenarios, simulated, tests }: Tried): Trial =>
  scenarios.length > 0 ? "scenarios" : simulated || tests.length > 0 ? "simulation or tests" : "its row of the table"

/** The number of rows by their strongest coverage. */
export const trialsOf = (coverage: MachineCoverage, rows: ReadonlyArray<string>): Readonly<Record<Trial, number>> => {
  const count = (trial: Trial) => rows.filter((row) => trialOf(triedOf(coverage, row)) === trial).length
  return {
    scenarios: count("scenarios"),
    "simulation or tests": count("simulation or tests"),
    "its row of the table": count("its row of the table")
  }
}

/** The coverage of all rows that end in a state, or begin there. */
export const arrivals = (coverage: MachineCoverage, state: string): Tried => {
  const into = [...coverage].filter(([row]) => row.endsWith(` ${state}`)).map(([, tried]) => tried)
  const all = (of: (tried: Tried) => ReadonlyArray<string>) => [...new Set(into.flatMap(of))].toSorted()
  return {
    scenarios: all(({ scenarios }) => scenarios),
    simulated: into.some(({ simulated }) => simulated),
    tests: all(({ tests }) => tests)
  }
}

/** A sentence names at most this many scenarios and test files, and counts the others. */
const named = 4

/** The coverage as a sentence, without the row of the table. With `names`, it names the first scenarios. */
export const triedText = ({ scenarios, simulated, tests }: Tried, names = true): string => {
  const counted = plural(scenarios.length, "scenario")
  const parts = [
    ...(scenarios.length === 0 ? [] : [names ? `${counted} (${firstOf(scenarios, named)})` : counted]),
    ...(simulated ? ["the simulation"] : []),
    ...(tests.length === 0 ? [] : [firstOf(tests, named)])
  ]
  return parts.length === 0 ? "its row of the table alone" : parts.join(", ")
}

/** The form in the stored file: `ORD 01 02; STK 01`; empty kinds are left out. */
export interface StoredTried {
  readonly scenarios?: string
  readonly simulated?: true
  readonly tests?: ReadonlyArray<string>
}
export type StoredCoverage = Readonly<Record<string, Readonly<Record<string, StoredTried>>>>

export const readCoverage = (stored: StoredCoverage, kind: string): MachineCoverage =>
  new Map(
    Object.entries(stored[kind] ?? {}).map(([row, { scenarios = "", simulated = false, tests = [] }]) => [
      row,
      { scenarios: unpacked(scenarios), simulated, tests }
    ])
  )

export const storedTried = ({ scenarios, simulated, tests }: Tried): StoredTried => ({
  ...(scenarios.length === 0 ? {} : { scenarios: packed(scenarios) }),
  ...(simulated ? { simulated } : {}),
  ...(tests.length === 0 ? {} : { tests })
})

const packed = (ids: ReadonlyArray<string>): string => {
  const groups = new Map<string, ReadonlyArray<string>>()
  for (const id of ids) {
    const [, group = "", number = ""] = id.split("-")
    groups.set(group, [...(groups.get(group) ?? []), number])
  }
  return [...groups].map(([group, numbers]) => [group, ...numbers].join(" ")).join("; ")
}

const unpacked = (text: string): ReadonlyArray<string> =>
  text === ""
    ? []
    : text.split("; ").flatMap((part) => {
        const [group = "", ...numbers] = part.split(" ")
        return numbers.map((number) => `SC-${group}-${number}`)
      })
