/**
 * `brokerage sim list` and `sim run`: runs scenarios on the running sandbox, or on a temporary one when none runs or when the
 * running one has the demo. With --json it prints one document; on a terminal it shows a live view (operator surface,
 * Developers and QA).
 */
import { type Command, Option } from "commander"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { ScenarioResult, Watcher } from "../../simulator/scenarios/runner/runScenario.ts"
import type { Scenario, Step } from "../../simulator/scenarios/runner/Scenario.ts"
import type { Observed, World } from "../../simulator/scenarios/runner/World.ts"
import type { Cli } from "../Cli.ts"
import { cliFailure, CliFailure, type Envelope, exitStatus, type Globals } from "../CliIo.ts"
import { type Connection, defaultDataDir, findConnection } from "../connection.ts"
import { whole } from "../options.ts"
import type { CallService } from "../OperatorClient.ts"
import type { OwnService } from "../ownService.ts"
import { table } from "../views/View.ts"

interface RunFlags {
  readonly seed?: number
  readonly junit?: string
  readonly keep?: boolean
  readonly record?: string
  readonly own?: boolean
  readonly here?: boolean
}

/** Adds the commands `list` and `run` under `sim`. `allCommands` builds the command tree that checks the lines of scenarios. */
export const addSimRunCommands = (sim: Command, cli: Cli, allCommands: () => Promise<Command>): void => {
  sim
    .command("list")
    .description("scenarios that come with the service")
    .action((_: object, command: Command) => cli.attempt(command, (globals) => list(cli, globals)))
  sim
    .command("run")
    .description(
      "run scenarios; exits 1 when one fails. They play on the running sandbox, or on a temporary one when none runs or when it has the partner DEMO (serve --demo), which then stays as it is"
    )
    .argument("<NAME|FILE...>", "an id, the beginning of one, a group such as custody, or a YAML file")
    .addOption(new Option("--seed <n>", "repeats the choices of an earlier run").argParser(whole(0, 4_294_967_295)))
    .option("--junit <file>", "write the results as JUnit XML")
    .option("--record <file>", "write the partners' requests, answers and events, as JSON lines")
    .addOption(new Option("--own", "play on a temporary service, even if one is running").conflicts("here"))
    .option("--here", "play on the running service, even if it has the demo: partners, prices and clock change")
    .option("--keep", "keep the data directory of the temporary service")
    .action((words: ReadonlyArray<string>, flags: RunFlags, command: Command) =>
      cli.attempt(command, (globals) => run(cli, words, flags, globals, allCommands))
    )
}

const list = async (cli: Cli, globals: Globals): Promise<void> => {
  const { allScenarios } = await import("../../simulator/scenarios/runner/findScenarios.ts")
  const { scenarios, complaints } = allScenarios()
  if (complaints.length > 0) throw wrong(complaints)
  const rows = scenarios.map(({ id, title, needs, alone, steps }) => ({ id, title, needs, alone, steps: steps.length }))
  await cli.show(globals, { scenarios: rows }, (data) =>
    table(
      data.scenarios,
      {
        id: (row) => row.id,
        title: (row) => row.title,
        steps: (row) => row.steps,
        needs: (row) => row.needs.join(", ")
      },
      "no scenarios"
    )
  )
}

const wrong = (complaints: ReadonlyArray<string>): CliFailure =>
  cliFailure(exitStatus.usage, 4000, complaints.join("\n"))

/** The faults of scenarios that show before they play, as `FILE:LINE: ...`. */
const faultsOf = async (
  allCommands: () => Promise<Command>,
  scenarios: ReadonlyArray<Scenario>
): Promise<ReadonlyArray<string>> => {
  const [{ checkScenario }, { commandCheck }] = await Promise.all([
    import("../../simulator/scenarios/runner/checkScenario.ts"),
    import("../checkCommand.ts")
  ])
  const check = commandCheck(await allCommands())
  return scenarios.flatMap((scenario) =>
    checkScenario(scenario, check).map(({ line, sentence }) => `${scenario.file}:${line}: ${sentence}`)
  )
}

const run = async (
  cli: Cli,
  words: ReadonlyArray<string>,
  flags: RunFlags,
  globals: Globals,
  allCommands: () => Promise<Command>
): Promise<void> => {
  const { findScenarios } = await import("../../simulator/scenarios/runner/findScenarios.ts")
  const { scenarios: found, complaints, byName } = findScenarios(words)
  const faults = [...complaints, ...(await faultsOf(allCommands, found))]
  if (faults.length > 0) throw wrong(faults)
  // The files are opened before the run, so that a run of minutes does not end without a place for its results.
  if (flags.junit !== undefined) writeResults("junit", flags.junit, "a", "")
  if (flags.record !== undefined) writeResults("record", flags.record, "w", "")
  const seed = flags.seed ?? Date.now() % 4_294_967_296
  // From here on, a signal ends the run properly and removes everything that it started.
  const stopped = cli.io.stopped()
  const place = await placeFor(cli, flags, globals)
  const running = place.type === "running"
  if (running) await refuseSecondKey(cli, found, globals)
  const { scenarios, leftOut } = running ? withoutOwn(found, byName) : { scenarios: found, leftOut: [] }
  if (globals.json !== true) cli.io.stdout(`${placeText(place)}\n`)
  const played: Array<ScenarioResult> = []
  const kept: Array<string> = []
  for (const lot of running ? [scenarios] : lotsOf(scenarios)) {
    const ended = await playLot(cli, lot, { flags, globals, seed, running, stopped })
    if (ended === null) throw (await import("../ownService.ts")).interrupted
    played.push(...ended.results)
    if (ended.dataDir !== null && flags.keep === true) kept.push(ended.dataDir)
  }
  const results = scenarios.flatMap(({ file }) => played.filter((result) => result.file === file))
  const failed = results.filter(({ ok }) => !ok).length
  if (flags.junit !== undefined) await writeJunit(flags.junit, results, seed)
  if (globals.json === true) {
    cli.io.stdout(`${JSON.stringify({ ok: failed === 0, seed, own: !running, leftOut, scenarios: results })}\n`)
  } else cli.io.stdout(summaryText(results, seed, leftOut, kept))
  if (failed > 0) cli.status = exitStatus.refused
}

/**
 * Splits the scenarios by the service that they need. Scenarios that kill their service, or advance its clock beyond the
 * venue's retention of events, run on another service than the others.
 */
const lotsOf = (scenarios: ReadonlyArray<Scenario>): ReadonlyArray<ReadonlyArray<Scenario>> =>
  [scenarios.filter(({ own }) => !own), scenarios.filter(({ own }) => own)].filter((lot) => lot.length > 0)

interface LotParts {
  readonly flags: RunFlags
  readonly globals: Globals
  readonly seed: number
  readonly running: boolean
  readonly stopped: Promise<void>
}

/** Runs scenarios on the running service, or on a temporary one. Null when a signal interrupted them. */
const playLot = async (
  cli: Cli,
  scenarios: ReadonlyArray<Scenario>,
  { flags, globals, seed, running, stopped }: LotParts
): Promise<{ readonly results: ReadonlyArray<ScenarioResult>; readonly dataDir: string | null } | null> => {
  const own = running ? null : await startOwn(flags.keep === true, stopped)
  try {
    const place = own === null ? globals : placeOf(own, globals)
    const results = await play(cli, stopped, scenarios, seed, own, place, flags.record)
    return results === null ? null : { results, dataDir: own?.dataDir ?? null }
  } finally {
    await own?.stop()
  }
}

/**
 * Removes scenarios that need a service of their own from a run on a running service. A scenario that the caller named is
 * refused; one that came with a group is left out and reported.
 */
const withoutOwn = (
  found: ReadonlyArray<Scenario>,
  byName: ReadonlySet<string>
): { readonly scenarios: ReadonlyArray<Scenario>; readonly leftOut: ReadonlyArray<string> } => {
  const own = found.filter((scenario) => scenario.own)
  const named = own.filter(({ file }) => byName.has(file))
  const scenarios = found.filter((scenario) => !scenario.own)
  if (named.length > 0 || scenarios.length === 0) {
    const which = (named.length > 0 ? named : own).map(({ id }) => id).join(", ")
    throw wrong([`Scenarios that kill or change their service need a temporary one: add --own (${which}).`])
  }
  return { scenarios, leftOut: own.map(({ id }) => id) }
}

/** Options that connect to the run's own service, whatever service the command line or the environment names. */
const placeOf = (
  { dataDir, url, operatorKey, ca }: OwnService,
  { operatorKeyFile: _file, profile: _profile, ...globals }: Globals
): Globals => ({ ...globals, dataDir, url, operatorKey, ca })

const writeJunit = async (file: string, results: ReadonlyArray<ScenarioResult>, seed: number): Promise<void> => {
  const { junitOf } = await import("../../simulator/scenarios/runner/junit.ts")
  writeResults("junit", file, "w", junitOf(results, seed))
}

const writeResults = (option: string, file: string, flag: "a" | "w", text: string): void => {
  try {
    writeFileSync(file, text, { flag })
  } catch {
    throw cliFailure(exitStatus.usage, 4000, `The file of --${option} can not be written.`)
  }
}

const summaryText = (
  results: ReadonlyArray<ScenarioResult>,
  seed: number,
  leftOut: ReadonlyArray<string>,
  kept: ReadonlyArray<string>
): string => {
  const failed = results.filter(({ ok }) => !ok)
  const seconds = (Math.max(0, ...results.map(({ millis }) => millis)) / 1_000).toFixed(1)
  return [
    "",
    failed.length === 0
      ? `${results.length} passed, the longest in ${seconds} s (seed ${seed}).`
      : `${failed.length} of ${results.length} failed (seed ${seed}).`,
    ...(leftOut.length === 0 ? [] : [`Skipped, because they need a temporary service (--own): ${leftOut.join(", ")}`]),
    ...kept.map((dataDir) => `Kept data directory of the run: ${dataDir}`),
    ""
  ].join("\n")
}

/** The service that the scenarios play on. `demo`: the address of a running service that is left alone; null without one. */
type Place = { readonly type: "running"; readonly url: string } | { readonly type: "own"; readonly demo: string | null }

const placeText = (place: Place): string => {
  if (place.type === "running") return `The scenarios play on ${place.url}.`
  const own = "The scenarios play on a temporary sandbox, which starts now"
  return place.demo === null ? `${own}.` : `${own}. The demo at ${place.demo} stays as it is (--here plays on it).`
}

/**
 * The running service, unless it has the demo's partner or the flags decide. A service that --here, the options or the
 * environment name must respond, otherwise the command fails. A service that the data directory names may have ended.
 */
const placeFor = async (cli: Cli, { own, here }: RunFlags, globals: Globals): Promise<Place> => {
  if (own === true) return { type: "own", demo: null }
  const named =
    here === true ||
    [globals.url, globals.profile, cli.io.env.BROKERAGE_URL, cli.io.env.BROKERAGE_PROFILE].some(
      (value) => value !== undefined && value !== ""
    )
  if (!named && !existsSync(join(globals.dataDir ?? defaultDataDir, "service.json"))) return { type: "own", demo: null }
  const found = { ...findConnection(globals, cli.io), dryRun: false }
  const { callService } = await import("../OperatorClient.ts")
  try {
    await callService(found, (api) => api.clock.show())
    if (here === true || !(await hasDemo(callService, found))) return { type: "running", url: found.url }
    return { type: "own", demo: found.url }
  } catch (error) {
    if (named || !(error instanceof CliFailure) || error.status !== exitStatus.unreachable) throw error
    return { type: "own", demo: null }
  }
}

/** Whether the service has the partner of `serve --demo`; it keeps that partner when it later starts without the option. */
const hasDemo = async (callService: CallService, connection: Connection): Promise<boolean> => {
  try {
    await callService(connection, (api) => api.partner.show({ params: { partner: "DEMO" } }))
    return true
  } catch (error) {
    if (error instanceof CliFailure && error.envelope.code === partnerNotFound) return false
    throw error
  }
}
const partnerNotFound = 4004

/**
 * Refuses scenarios whose commands wait for a second key: such a scenario would stop half way, and leave its partner and
 * approvals behind.
 */
const refuseSecondKey = async (cli: Cli, scenarios: ReadonlyArray<Scenario>, globals: Globals): Promise<void> => {
  const { callService } = await import("../OperatorClient.ts")
  const { data } = await callService(findConnection(globals, cli.io), (api) => api.sim.life())
  const needed = guardedOf(scenarios)
  const waiting = data.fourEyes.filter((command) => needed.has(command)).toSorted()
  if (waiting.length === 0) return
  throw cliFailure(
    exitStatus.refused,
    4092,
    `The service requires a second operator key for commands of the scenarios (${waiting.join(", ")}). Nothing was done: add --own for a temporary service, or start this one with --four-eyes none.`
  )
}

/**
 * The operator commands of the scenarios by their first two words, to compare with the commands under four eyes. `key
 * issue` is always one of them, because every scenario runs it.
 */
const guardedOf = (scenarios: ReadonlyArray<Scenario>): ReadonlySet<string> => {
  const inStep = (step: Step): ReadonlyArray<string> =>
    step.kind === "operator"
      ? [step.operator.split(/\s+/, 2).join(" ")]
      : step.kind === "together"
        ? step.together.flatMap(inStep)
        : step.kind === "kill"
          ? step.during.flatMap(inStep)
          : []
  return new Set(["key issue", ...scenarios.flatMap(({ steps }) => steps.flatMap(inStep))])
}

const startOwn = async (keep: boolean, stopped: Promise<void>): Promise<OwnService> => {
  const { startOwnService } = await import("../ownService.ts")
  return startOwnService(keep, stopped)
}

/** Runs the scenarios; null when a signal interrupted them. All their resources are closed on return. */
const play = async (
  cli: Cli,
  stopped: Promise<void>,
  scenarios: ReadonlyArray<Scenario>,
  seed: number,
  own: OwnService | null,
  globals: Globals,
  record: string | undefined
): Promise<ReadonlyArray<ScenarioResult> | null> => {
  const [{ Effect }, { runScenarios }, { keepServices }, watcher] = await Promise.all([
    import("effect"),
    import("../../simulator/scenarios/runner/runScenarios.ts"),
    import("../OperatorClient.ts"),
    watcherOf(cli, scenarios, globals)
  ])
  const services = keepServices()
  try {
    const world = {
      ...(await worldOf(cli, globals, own, services.call)),
      ...(record === undefined
        ? {}
        : { observe: (observed: Observed) => writeResults("record", record, "a", `${JSON.stringify(observed)}\n`) })
    }
    return await Effect.runPromise(
      Effect.raceFirst(
        runScenarios(world, scenarios, seed, watcher),
        Effect.map(
          Effect.promise(() => stopped),
          () => null
        )
      )
    )
  } finally {
    watcher.close()
    services.close()
  }
}

const worldOf = async (
  cli: Cli,
  globals: Globals,
  own: OwnService | null,
  callService: CallService
): Promise<World> => {
  const { url, operatorKey, ca } = findConnection(globals, cli.io)
  const { receiverTls } = await import("../receiverTls.ts")
  const dataDir = globals.dataDir ?? defaultDataDir
  const connection = ["--json", "--yes", "--data-dir", dataDir, "--url", url, "--operator-key", operatorKey]
  return {
    url,
    ca,
    operatorKey,
    command: async (args) => {
      let stdout = ""
      let stderr = ""
      const exit = await cli.runLine(
        [...args, ...connection, ...(globals.ca === undefined ? [] : ["--ca", globals.ca])],
        {
          ...cli.io,
          stdout: (text) => void (stdout += text),
          stderr: (text) => void (stderr += text),
          terminal: false
        },
        callService
      )
      return { exit, document: parsed(stdout), refusal: parsed(stderr) as Envelope | null }
    },
    own,
    tls: receiverTls(dataDir, null)
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const watcherOf = async (
  cli: Cli,
  scenarios: ReadonlyArray<Scenario>,
  globals: Globals
): Promise<Watcher & { readonly close: () => void }> => {
  if (globals.json === true) return silent
  const { linesOf, scenarioBoard } = await import("../views/scenarioBoard.ts")
  return cli.io.terminal ? scenarioBoard(scenarios, cli.styled, process.stdout) : linesOf(cli.io.stdout)
}

const silent = { began: () => undefined, at: () => undefined, ended: () => undefined, close: () => undefined }
