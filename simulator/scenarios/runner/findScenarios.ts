/** Finds scenario files by the arguments of a command: an id, a prefix of one, a group such as custody, or a file. */
import { closeSync, openSync, readdirSync, readSync } from "node:fs"
import { basename, join, resolve } from "node:path"
import { closest } from "../../../src/machines/shared/closest.ts"
import { type Complaint, largestFile, readScenario } from "./readScenario.ts"
import type { Scenario } from "./Scenario.ts"

/** The scenarios that come with the service. */
const folder = resolve(import.meta.dirname, "..")

/** Groups by the middle part of their ids. */
export const groups: Readonly<Record<string, string>> = {
  onboarding: "SC-ONB",
  custody: "SC-CUS",
  settlement: "SC-SET",
  webhooks: "SC-WHK",
  market: "SC-MKT",
  rfq: "SC-RFQ",
  barriers: "SC-BAR",
  orders: "SC-ORD",
  spot: "SC-SPT",
  margin: "SC-MRG",
  funding: "SC-FUN",
  staking: "SC-STK",
  account: "SC-ACC",
  statements: "SC-STM",
  platform: "SC-PLT"
}

export interface Found {
  readonly scenarios: ReadonlyArray<Scenario>
  /** Faults as sentences: `FILE:LINE: ...` for an unreadable file, and one for each argument that matches no file. */
  readonly complaints: ReadonlyArray<string>
  /** Files that an argument names alone: by id or as a file, not by a group or prefix. */
  readonly byName: ReadonlySet<string>
}

export const ownFiles = (): ReadonlyArray<string> =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".yaml"))
    .toSorted()
    .map((name) => join(folder, name))

/** Cached, because the files come with the program. */
let ownScenarios: Found | null = null

/** All scenarios that come with the service. */
export const allScenarios = (): Found => (ownScenarios ??= read(ownFiles()))

/** Each scenario once, in the order of the arguments. */
export const findScenarios = (words: ReadonlyArray<string>): Found => {
  const own = allScenarios()
  const scenarios = new Map<string, Scenario>()
  const complaints: Array<string> = []
  const byName = new Set<string>()
  for (const word of words) {
    const found = /\.ya?ml$/.test(word) || word.includes("/") ? read([word]) : named(word, own)
    complaints.push(...found.complaints)
    for (const scenario of found.scenarios) scenarios.set(scenario.file, scenario)
    for (const file of found.byName) byName.add(file)
  }
  return { scenarios: [...scenarios.values()], complaints, byName }
}

const named = (word: string, own: Found): Found => {
  const sought = groups[word.toLowerCase()] ?? word.toUpperCase()
  const prefix = sought.startsWith("SC-") ? sought : `SC-${sought}`
  // Every id begins with an empty word.
  const isMeant = ({ id, file }: Scenario) => word !== "" && (id.startsWith(prefix) || basename(file, ".yaml") === word)
  const scenarios = own.scenarios.filter(isMeant)
  const exact = scenarios.filter(({ id, file }) => id === prefix || basename(file, ".yaml") === word)
  if (scenarios.length > 0) return { scenarios, complaints: [], byName: new Set(exact.map(({ file }) => file)) }
  if (own.complaints.length > 0) return { ...none, complaints: own.complaints }
  const known = [...Object.keys(groups), ...own.scenarios.flatMap(({ id, file }) => [id, basename(file, ".yaml")])]
  const meant = closest(word, known) || ": brokerage sim list shows all scenarios."
  return { ...none, complaints: [`No scenario matches "${word}"${meant}`] }
}

const none: Found = { scenarios: [], complaints: [], byName: new Set() }

const read = (files: ReadonlyArray<string>): Found => {
  const scenarios: Array<Scenario> = []
  const complaints: Array<string> = []
  for (const file of files) {
    const result = readFile(file)
    if ("id" in result) scenarios.push(result)
    else complaints.push(...result.map(({ line, sentence }) => `${file}:${line}: ${sentence}`))
  }
  return { scenarios, complaints, byName: new Set(files) }
}

const readFile = (file: string): Scenario | ReadonlyArray<Complaint> => {
  try {
    return readScenario(file, beginningOf(file))
  } catch {
    return [{ line: 1, sentence: "the file can not be read" }]
  }
}

/** Reads up to the limit plus one byte: a pipe or a device has no known size. */
const beginningOf = (file: string): string => {
  const bytes = Buffer.alloc(4 * largestFile)
  const descriptor = openSync(file, "r")
  try {
    let length = 0
    for (let read = -1; read !== 0; length += read)
      read = readSync(descriptor, bytes, length, bytes.length - length, null)
    return bytes.toString("utf8", 0, length)
  } finally {
    closeSync(descriptor)
  }
}
