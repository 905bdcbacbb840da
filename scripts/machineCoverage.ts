/**
 * npm run machine-coverage: plays every scenario, some seeds of the simulation and some tests, and records which rows of their
 * tables the machines used (src/http/operator/atlas/coverage.json). With ids of scenarios, test files or `simulation` as
 * arguments it plays these alone and keeps the rest of the record. A full run takes half an hour on two cores;
 * test/machines/coverage.test.ts fails when a new one is due.
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
/** Tests that cover rows without a scenario. */
const tests: ReadonlyArray<string> = [
  "test/runtime/rfq/rfqDecisions.test.ts",
  "test/runtime/order/orderEvents.test.ts",
  "test/runtime/order/protection.test.ts",
  "test/runtime/margin/positionClosing.test.ts",
  "test/runtime/margin/riskDecisions.test.ts",
  "test/runtime/order/protectionHistories.test.ts",
  "test/scenarios/dispositions.test.ts",
  "test/scenarios/kyc.test.ts",
  "test/scenarios/kycReonboarding.test.ts",
  "test/scenarios/compliance.test.ts",
  "test/scenarios/rescreening.test.ts",
  "test/scenarios/retake.test.ts",
  "test/scenarios/staking.test.ts",
  "test/scenarios/stakingDoubts.test.ts",
  "test/scenarios/stakingLate.test.ts",
  "test/operator/partners.test.ts",
  "test/operator/screeningImport.test.ts"
]
/** Limit on test files named for a row. */
const testsOfRow = 3

/** A play: a scenario, a test file, or the simulation. */
interface Play {
  readonly name: string
  readonly args: ReadonlyArray<string>
  /** True: the play runs in a shared sandbox. False: it starts its own. */
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

/** Starts a process that records its steps in the folder. */
const started = (
  folder: string,
  args: ReadonlyArray<string>
): { readonly child: ChildProcess; readonly output: () => string } => {
  const NODE_OPTIONS = `${process.env["NODE_OPTIONS"] ?? ""} --import=${recorder}`
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_OPTIONS, MACHINE_COVERAGE: folder }
  })
  let output = ""
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk) => (output = `${output}${String(chunk)}`.slice(-2_000)))
  return { child, output: () => output }
}

/** A sandbox that plays use one after the other. */
const startSandbox = async (folder: string): Promise<ChildProcess> => {
  writeFileSync(join(folder, "now"), "nothing")
  const place = ["--port", "0", "--data-dir", join(folder, "data")]
  const { child, output } = started(folder, [
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
  if (!isUp) throw new Error(`The sandbox does not start: ${output()}`)
  return child
}

/** `kind\trow` of every step; null: the play failed, so its steps are incomplete. */
const played = async (folder: string, { name, args, shares }: Play): Promise<ReadonlySet<string> | null> => {
  writeFileSync(join(folder, "now"), name)
  const { child, output } = started(folder, shares ? [...args, "--data-dir", join(folder, "data")] : args)
  const [status] = (await once(child, "close")) as [number | null]
  console.log(`${status === 0 ? "played" : "FAILED"} ${name}`)
  if (status !== 0) {
    console.error(output())
    return null
  }
  const texts = readdirSync(folder)
    .filter((each) => each.endsWith(".steps"))
    .map((each) => readFileSync(join(folder, each), "utf8"))
  const lines = texts.flatMap((text) => text.split("\n")).filter((line) => line.startsWith(`${name}\t`))
  return new Set(lines.map((line) => line.slice(name.length + 1)))
}

/** The coverage of a row after this play, which used it or not. */
const triedAfter = (tried: Tried, name: string, took: boolean): Tried => {
  if (name === simulationPlay.name) return { ...tried, simulated: took }
  const list = (names: ReadonlyArray<string>) =>
    [...names.filter((each) => each !== name), ...(took ? [name] : [])].toSorted()
  return name.endsWith(".test.ts")
    ? { ...tried, tests: list(tried.tests) }
    : { ...tried, scenarios: list(tried.scenarios) }
}

/** The current record, with every row of every machine. */
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

/** Tests are named only for rows without a scenario; missing files are removed. */
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
      // The play may have failed because of objects that earlier plays left in the shared sandbox.
      const steps = first ?? (play.shares ? await played(place, onOwnService(play.name)) : null)
      if (steps === null) {
        failed++
        continue
      }
      for (const [kind, rows] of record)
        for (const [row, tried] of rows) rows.set(row, triedAfter(tried, play.name, steps.has(`${kind}\t${row}`)))
      // The record is saved after each play, so that a signal does not lose half an hour of work.
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
