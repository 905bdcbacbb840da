/**
 * npm run machine-coverage: plays every scenario, some seeds of the simulation and some tests, and writes by which rows of their
 * tables the machines went (src/http/operator/atlas/coverage.json). Given ids of scenarios, test files or `simulation`, it plays
 * these alone and leaves the rest of the record as it is. It takes half an hour on two cores; test/machines/coverage.test.ts
 * says when it has to be made anew.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { rowName, statesOf, tableOf } from "../src/machines/describe.ts"
import {
  readCoverage,
  startOf,
  type StoredCoverage,
  storedTried,
  type Tried,
  triedOf
} from "../src/machines/picture/MachineCoverage.ts"
import { type Kind, kinds, machines } from "../src/machines/registry.ts"
import { allScenarios } from "../simulator/scenarios/runner/findScenarios.ts"
import { scriptCommand } from "./scriptCommand.ts"

const root = join(import.meta.dirname, "..")
const file = join(root, "src/http/operator/atlas/coverage.json")
const recorder = pathToFileURL(join(import.meta.dirname, "recordSteps.ts")).href

/** Seeds from 1 on. */
const seeds = 100
/** Tests that go where no scenario does. */
const tests: ReadonlyArray<string> = [
  "test/runtime/rfq/rfqDecisions.test.ts",
  "test/runtime/order/orderHears.test.ts",
  "test/runtime/order/protection.test.ts",
  "test/runtime/margin/positionClosing.test.ts",
  "test/scenarios/kyc.test.ts",
  "test/scenarios/kycReonboarding.test.ts",
  "test/scenarios/compliance.test.ts",
  "test/scenarios/rescreening.test.ts",
  "test/scenarios/retake.test.ts",
  "test/operator/partners.test.ts",
  "test/operator/screeningImport.test.ts"
]
/** Test files that are named of a row. */
const testsOfRow = 3

/** What is played: a scenario, a test file, or the simulation. */
interface Play {
  readonly name: string
  readonly args: ReadonlyArray<string>
  /** It needs a sandbox, which plays share; else it brings its own. */
  readonly shares: boolean
}

const cli = join(root, "bin/brokerage.mjs")
const own = new Set(allScenarios().scenarios.flatMap(({ id, own: alone }) => (alone ? [id] : [])))

const onOwnService = (id: string): Play => ({
  name: id,
  args: [cli, "sim", "run", id, "--own", "--seed", "1"],
  shares: false
})
const scenarioPlay = (id: string): Play =>
  own.has(id) ? onOwnService(id) : { name: id, args: [cli, "sim", "run", id, "--seed", "1"], shares: true }
const testPlay = (name: string): Play => ({
  name,
  args: [join(root, "node_modules/vitest/vitest.mjs"), "run", name],
  shares: false
})
const simulationPlay: Play = {
  name: "simulation",
  args: [join(root, "scripts/simulate.ts"), "--seeds", String(seeds)],
  shares: false
}

const everything = (): ReadonlyArray<Play> => [
  simulationPlay,
  ...allScenarios().scenarios.map(({ id }) => scenarioPlay(id)),
  ...tests.map(testPlay)
]

const playOf = (word: string): Play =>
  word === simulationPlay.name ? simulationPlay : word.endsWith(".test.ts") ? testPlay(word) : scenarioPlay(word)

/** Starts a process whose steps are written down in the folder. */
const started = (
  folder: string,
  args: ReadonlyArray<string>
): { readonly child: ChildProcess; readonly said: () => string } => {
  const NODE_OPTIONS = `${process.env["NODE_OPTIONS"] ?? ""} --import=${recorder}`
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_OPTIONS, MACHINE_COVERAGE: folder }
  })
  let said = ""
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk) => (said = `${said}${String(chunk)}`.slice(-2_000)))
  return { child, said: () => said }
}

/** A sandbox that plays share, one after the other. */
const startSandbox = async (folder: string): Promise<ChildProcess> => {
  writeFileSync(join(folder, "now"), "nothing")
  const place = ["--port", "0", "--data-dir", join(folder, "data")]
  const { child, said } = started(folder, [
    cli,
    "serve",
    "--sandbox",
    "--allow-webhook-host",
    "127.0.0.1",
    ...place,
    "--json"
  ])
  const ready = once(child.stdout as NonNullable<typeof child.stdout>, "data")
  const isUp = await Promise.race([ready.then(() => true), once(child, "exit").then(() => false)])
  if (!isUp) throw new Error(`The sandbox does not start: ${said()}`)
  return child
}

/** `kind\trow` of every step that it took; null: it failed, and what it did is not all of it. */
const played = async (folder: string, { name, args, shares }: Play): Promise<ReadonlySet<string> | null> => {
  writeFileSync(join(folder, "now"), name)
  const { child, said } = started(folder, shares ? [...args, "--data-dir", join(folder, "data")] : args)
  const [status] = (await once(child, "close")) as [number | null]
  console.log(`${status === 0 ? "played" : "FAILED"} ${name}`)
  if (status !== 0) {
    console.error(said())
    return null
  }
  const texts = readdirSync(folder)
    .filter((each) => each.endsWith(".steps"))
    .map((each) => readFileSync(join(folder, each), "utf8"))
  const lines = texts.flatMap((text) => text.split("\n")).filter((line) => line.startsWith(`${name}\t`))
  return new Set(lines.map((line) => line.slice(name.length + 1)))
}

/** What tries a row, once this play took it or did not. */
const triedAfter = (tried: Tried, name: string, took: boolean): Tried => {
  if (name === simulationPlay.name) return { ...tried, simulated: took }
  const list = (names: ReadonlyArray<string>) =>
    [...names.filter((each) => each !== name), ...(took ? [name] : [])].toSorted()
  return name.endsWith(".test.ts")
    ? { ...tried, tests: list(tried.tests) }
    : { ...tried, scenarios: list(tried.scenarios) }
}

/** The record as it stands, every row of every machine. */
const standing = (): Map<Kind, Map<string, Tried>> => {
  const stored = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as StoredCoverage) : {}
  return new Map(
    kinds.map((kind) => {
      const { machine } = machines[kind]
      const before = readCoverage(stored, kind)
      const rows = [...statesOf(machine).map(({ name }) => startOf(name)), ...tableOf(machines[kind]).map(rowName)]
      return [kind, new Map(rows.map((row) => [row, triedOf(before, row)]))]
    })
  )
}

/** Tests are named where no scenario goes, and files that are no more nowhere. */
const kept = ({ scenarios, simulated, tests: files }: Tried, known: ReadonlySet<string>): Tried => {
  const ids = scenarios.filter((id) => known.has(id))
  const there = files.filter((name) => existsSync(join(root, name)))
  return { scenarios: ids, simulated, tests: ids.length > 0 ? [] : there.slice(0, testsOfRow) }
}

const write = (record: ReadonlyMap<Kind, ReadonlyMap<string, Tried>>): void => {
  const known = new Set(allScenarios().scenarios.map(({ id }) => id))
  const machineText = ([kind, rows]: readonly [Kind, ReadonlyMap<string, Tried>]): string => {
    const lines = [...rows]
      .map(([row, tried]) => [row, JSON.stringify(storedTried(kept(tried, known)))] as const)
      .filter(([, text]) => text !== "{}")
    return `${JSON.stringify(kind)}: {\n${lines.map(([row, text]) => `${JSON.stringify(row)}: ${text}`).join(",\n")}\n}`
  }
  writeFileSync(file, `{\n${[...record].map(machineText).join(",\n")}\n}\n`)
}

const words = scriptCommand(
  "machine-coverage",
  "Plays scenarios, simulation and tests, and writes where the machines went."
)
  .argument("[what...]", "ids of scenarios, test files, or simulation; everything where nothing is said")
  .parse().args
const plays = words.length === 0 ? [...everything()] : words.map(playOf)
const record = standing()
const folder = mkdtempSync(join(tmpdir(), "brokerage-coverage-"))
let failed = 0

const worker = async (): Promise<void> => {
  const place = mkdtempSync(join(folder, "place-"))
  let sandbox: ChildProcess | null = null
  try {
    for (let play = plays.shift(); play !== undefined; play = plays.shift()) {
      if (play.shares) sandbox ??= await startSandbox(place)
      const first = await played(place, play)
      // What it came upon in a sandbox that others have played in may be what it failed by.
      const steps = first ?? (play.shares ? await played(place, onOwnService(play.name)) : null)
      if (steps === null) {
        failed++
        continue
      }
      for (const [kind, rows] of record)
        for (const [row, tried] of rows) rows.set(row, triedAfter(tried, play.name, steps.has(`${kind}\t${row}`)))
      // Half an hour that a signal would end: what is known so far is kept.
      write(record)
    }
  } finally {
    if (sandbox !== null && sandbox.exitCode === null) {
      const ended = once(sandbox, "exit")
      sandbox.kill("SIGTERM")
      await ended
    }
  }
}

try {
  await Promise.all(Array.from({ length: availableParallelism() }, worker))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(
  failed === 0 ? `Written; npm run generate draws it.` : `${failed} failed: the record of these is as it was.`
)
process.exitCode = failed === 0 ? 0 : 1
