/**
 * `npm run bench`: the service beside reference programs in one run, and further figures of the service (start, memory,
 * cost of a transition, batch sizes, parts of a request's processor time). Options: --quick (three minutes, for a first
 * impression), --write (docs/benchmarks.md), --only
 * webhooks|onboarding|screening|money|markets|contracts|orders|margin|staking|statements|fairness|cli (one part, printed
 * and not written), --rows one,crowd,takes,... (only these rows of the parts margin, staking and statements),
 * --data-dir DIR (kept; default: a temporary folder, removed afterwards). Exit status 1 if a request failed, the books
 * did not balance or a goal was missed. Source: architecture 11, speed.
 */
import { InvalidArgumentError, Option } from "commander"
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { cpus, tmpdir, totalmem } from "node:os"
import { join } from "node:path"
import type { Environment, Findings, Shares, StoredHouse } from "./Findings.ts"
import { measureCommands } from "./commands/commandRounds.ts"
import { commandGoals } from "./commands/section.ts"
import { judgeGoals } from "./goals.ts"
import { measureEventFlow } from "./contracts/eventFlow.ts"
import { measureMassEnd } from "./contracts/massEnd.ts"
import { measureOpenings } from "./contracts/openingRounds.ts"
import { measureFeed } from "./markets/feedRounds.ts"
import { measureLostCalls } from "./markets/lostCalls.ts"
import { measureStarts } from "./markets/starts.ts"
import { measureMoney } from "./money/moneyRounds.ts"
import { measureFairness } from "./fairness/fairnessRounds.ts"
import { fairnessGoals } from "./fairness/section.ts"
import { orderGoals } from "./orders/goals.ts"
import { marginGoals } from "./margin/goals.ts"
import { measureMargin } from "./margin/marginRounds.ts"
import { measureOrders } from "./orders/orderRounds.ts"
import { measureOnboarding } from "./onboarding/onboardingRounds.ts"
import {
  commandPlanOf,
  eventFlowPlanOf,
  fairnessPlanOf,
  feedPlanOf,
  lostCallsPlanOf,
  marginPlanOf,
  massEndPlanOf,
  moneyPlanOf,
  namedRows,
  onboardingPlanOf,
  openingPlanOf,
  orderPlanOf,
  type Plan,
  planOf,
  screeningPlanOf,
  stakingPlanOf,
  statementPlanOf,
  startsPlanOf,
  webhookPlanOf
} from "./plans.ts"
import { residentMegabytes } from "./processFacts.ts"
import { readProfile, summariseProfile } from "./profile.ts"
import { onDatabase } from "./reference/database.ts"
import { scriptCommand } from "../scripts/scriptCommand.ts"
import { renderFindings, renderParts, writeReport } from "./report.ts"
import { type RoundOptions, runReads, runReports, spreadOf } from "./rounds.ts"
import { stakingGoals } from "./staking/goals.ts"
import { measureStaking } from "./staking/stakingRounds.ts"
import { statementGoals } from "./statements/goals.ts"
import { measureStatements } from "./statements/statementRounds.ts"
import { measureScreening } from "./screening/screeningRounds.ts"
import { startService, stopServices } from "./service.ts"
import { type BenchPartner, createPartner, onboardClients } from "./setup.ts"
import { storeClients } from "./storedClients.ts"
import { Systems } from "./Systems.ts"
import { measureTransitionCost } from "./transitionCost.ts"
import { measureWebhooks } from "./webhooks/webhookRounds.ts"

const startedAt = performance.now()
const progress = (line: string): void =>
  console.error(`[${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(3)} s] ${line}`)

const readEnvironment = (databaseUrl: string): Promise<Environment> =>
  onDatabase(databaseUrl, async (client) => {
    const names = ["fsync", "synchronous_commit", "full_page_writes", "shared_buffers", "server_version"]
    const { rows } = await client.query<{ readonly name: string; readonly value: string }>(
      "SELECT name, current_setting(name) AS value FROM unnest($1::text[]) WITH ORDINALITY AS n(name, place) ORDER BY place",
      [names]
    )
    return {
      processor: cpus()[0]?.model ?? "unknown processor",
      cores: cpus().length,
      memoryGigabytes: Math.round(totalmem() / 2 ** 30),
      node: process.versions.node,
      postgres: rows.at(-1)?.value ?? "",
      settings: rows.slice(0, -1).map((row) => [row.name, row.value] as const)
    }
  })

/** The side-by-side part, on the first start of a new data directory. */
const measureSideBySide = async (plan: Plan) => {
  const service = await startService(plan.dataDirectory)
  progress(`first start ready after ${service.readyMillis.toFixed(0)} ms`)
  const freshMegabytes = residentMegabytes(service.pid)
  const environment = await readEnvironment(service.databaseUrl)
  const partner = await createPartner(service)
  // The last client gets no report: its rows are the pattern for the large house.
  const onboarded = await onboardClients(service, partner, plan.clients + 1)
  progress(`${onboarded.clientIds.length} clients onboarded, ${onboarded.rate.toFixed(0)} per second`)
  const clientIds = onboarded.clientIds.slice(0, plan.clients)
  const template = onboarded.clientIds.at(-1) as number
  const systems = new Systems({ dataDirectory: plan.dataDirectory, service, partner, clientIds })
  try {
    await systems.startReferences()
    const options: RoundOptions = { ...plan, progress }
    const first = await runReports(systems, 64, options)
    const second = await runReports(systems, 256, options)
    const reads = await runReads(systems, 64, options)
    const loadedMegabytes = residentMegabytes(service.pid)
    const { acknowledged } = systems
    return {
      environment,
      partner,
      clientIds,
      template,
      acknowledged,
      firstReadyMillis: service.readyMillis,
      onboardingRate: onboarded.rate,
      freshMegabytes,
      loadedMegabytes,
      otherCores: spreadOf(systems.otherCores),
      reports: [
        { connections: 64, ...first },
        { connections: 256, ...second }
      ],
      reads: { connections: 64, rows: reads }
    }
  } finally {
    await systems.stop()
    await service.stop()
  }
}

const measureLaterStarts = async (plan: Plan): Promise<ReadonlyArray<number>> => {
  const times: Array<number> = []
  for (let start = 0; start < plan.laterStarts; start++) {
    const service = await startService(plan.dataDirectory)
    times.push(service.readyMillis)
    await service.stop()
  }
  progress(`later starts ready after ${times.map((time) => time.toFixed(0)).join(", ")} ms`)
  return times
}

/** Runs the service under V8's profiler: a slice that warms up the code, then the measured slice. */
const measureShares = async (
  plan: Plan,
  partner: BenchPartner,
  clientIds: ReadonlyArray<number>,
  acknowledged: number
): Promise<Shares & { readonly acknowledged: number }> => {
  const directory = join(plan.dataDirectory, "profile")
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory)
  const service = await startService(
    plan.dataDirectory,
    `--cpu-prof --cpu-prof-interval=500 --cpu-prof-dir=${directory}`
  )
  const systems = new Systems({ dataDirectory: plan.dataDirectory, service, partner, clientIds, acknowledged })
  try {
    await systems.runService("collateral", 64, plan.warmMillis)
    const slice = await systems.runService("collateral", 64, plan.sliceMillis)
    await systems.stop()
    await service.stop()
    const profile = summariseProfile(readProfile(directory, service.pid), slice.fromMicros, slice.toMicros)
    const requests = Math.round((slice.rate * (slice.toMicros - slice.fromMicros)) / 1e6)
    progress(`profiled ${requests} requests`)
    return { profile, requests, databaseMicros: slice.databaseMicros, acknowledged: systems.acknowledged }
  } finally {
    await systems.stop()
  }
}

const measureHouse = async (plan: Plan, partner: BenchPartner, template: number): Promise<StoredHouse> => {
  const filling = await startService(plan.dataDirectory)
  const stored = await storeClients(filling.databaseUrl, template, plan.storedClients)
  await filling.stop()
  progress(`${stored.length} clients stored`)
  const service = await startService(plan.dataDirectory)
  const idleMegabytes = residentMegabytes(service.pid)
  const every = Math.floor(stored.length / plan.readClients)
  const clientIds = stored.filter((_, index) => index % every === 0)
  const systems = new Systems({ dataDirectory: plan.dataDirectory, service, partner, clientIds })
  try {
    const read = await systems.runService("readOnce", 64, 120_000)
    if (read.acknowledged !== clientIds.length) throw new Error("not every stored client was read")
    const readMegabytes = residentMegabytes(service.pid)
    progress(`${clientIds.length} of them read, ${read.rate.toFixed(0)} per second`)
    return {
      clients: stored.length,
      readyMillis: service.readyMillis,
      idleMegabytes,
      readClients: clientIds.length,
      readMegabytes
    }
  } finally {
    await systems.stop()
    await service.stop()
  }
}

/** Parts that depend on no other part. */
const parts = {
  webhooks: (plan: Plan) => measureWebhooks({ ...webhookPlanOf(plan), progress }),
  onboarding: (plan: Plan) => measureOnboarding({ ...onboardingPlanOf(plan), progress }),
  screening: (plan: Plan) => measureScreening({ ...screeningPlanOf(plan), progress }),
  money: (plan: Plan) => measureMoney({ ...moneyPlanOf(plan), progress }),
  markets: async (plan: Plan) => ({
    feed: await measureFeed({ ...feedPlanOf(plan), progress }),
    lost: await measureLostCalls({ ...lostCallsPlanOf(plan), progress }),
    starts: await measureStarts({ ...startsPlanOf(plan), progress })
  }),
  contracts: async (plan: Plan) => ({
    flow: await measureEventFlow({ ...eventFlowPlanOf(plan), progress }),
    ends: await measureMassEnd({ ...massEndPlanOf(plan), progress }),
    openings: await measureOpenings({ ...openingPlanOf(plan), progress })
  }),
  orders: (plan: Plan) => measureOrders({ ...orderPlanOf(plan), progress }),
  margin: (plan: Plan) => measureMargin({ ...marginPlanOf(plan), progress }),
  staking: (plan: Plan) => measureStaking({ ...stakingPlanOf(plan), progress }),
  statements: (plan: Plan) => measureStatements({ ...statementPlanOf(plan), progress }),
  fairness: (plan: Plan) => measureFairness({ ...fairnessPlanOf(plan), progress }),
  cli: (plan: Plan) => measureCommands({ ...commandPlanOf(plan), progress })
}
type Part = keyof typeof parts

const measure = async (plan: Plan): Promise<Findings> => {
  const side = await measureSideBySide(plan)
  const later = await measureLaterStarts(plan)
  const shares = await measureShares(plan, side.partner, side.clientIds, side.acknowledged)
  const transition = measureTransitionCost(plan.transitions)
  const house = await measureHouse(plan, side.partner, side.template)
  const webhooks = await parts.webhooks(plan)
  const onboarding = await parts.onboarding(plan)
  const screening = await parts.screening(plan)
  const money = await parts.money(plan)
  const markets = await parts.markets(plan)
  return {
    ...side,
    quick: plan.quick,
    sliceMillis: plan.sliceMillis,
    rounds: plan.rounds,
    clients: plan.clients,
    laterReady: spreadOf(later),
    shares,
    transition,
    house,
    webhooks,
    onboarding,
    screening,
    money,
    markets,
    acknowledged: shares.acknowledged
  }
}

const hasFailed = ({ onboarding, orders, margin, staking, statements, fairness, cli }: Partial<Findings>): boolean =>
  typeof onboarding?.listedFailure === "string" ||
  (orders !== undefined && orderGoals(orders).some(({ reached }) => !reached)) ||
  (margin !== undefined && marginGoals(margin).some(({ reached }) => !reached)) ||
  (staking !== undefined && stakingGoals(staking).some(({ reached }) => !reached)) ||
  (statements !== undefined && statementGoals(statements).some(({ reached }) => !reached)) ||
  (fairness !== undefined && fairnessGoals(fairness).some(({ reached }) => !reached)) ||
  (cli !== undefined && commandGoals(cli).some(({ reached }) => !reached))

/** Data directories of the parts. */
const folders = [
  "",
  "webhooks",
  "onboarding",
  "money",
  "markets",
  "lost-calls",
  "starts",
  "mass-end",
  "orders",
  "margin/close-outs",
  "margin/funding",
  "margin/starts",
  "margin/growth",
  "staking/reads",
  "staking/takes",
  "staking/maturities",
  "statements/files",
  "statements/night",
  "statements/nights",
  "fairness",
  "cli"
] as const

interface Options {
  readonly quick: boolean
  readonly write: boolean
  readonly only?: Part
  readonly rows?: ReadonlySet<string>
  readonly dataDir?: string
}

const rowsOf = (text: string): ReadonlySet<string> =>
  new Set(
    text.split(",").map((name) => {
      if (!namedRows.includes(name)) throw new InvalidArgumentError(`${name} is none of ${namedRows.join(", ")}.`)
      return name
    })
  )

const run = async (): Promise<void> => {
  const command = scriptCommand("bench", "The service beside reference programs in one run; needs the machine alone.")
    .option("--quick", "three minutes, for a first look", false)
    .option("--write", "write docs/benchmarks.md", false)
    .addOption(
      new Option("--only <part>", "one part, printed and not written").choices(Object.keys(parts)).conflicts("write")
    )
    .addOption(new Option("--rows <rows>", `of the part these alone: ${namedRows.join(",")}`).argParser(rowsOf))
    .option("--data-dir <dir>", "a new folder, kept (default: a temporary one)")
    .parse()
  const { only, rows, write, quick, dataDir: kept } = command.opts<Options>()
  if (kept !== undefined && existsSync(kept)) command.error("error: the data directory of a benchmark must be new.")
  const dataDirectory = kept ?? mkdtempSync(join(tmpdir(), "brokerage-bench-"))
  try {
    const plan = planOf(quick, dataDirectory, rows)
    if (only !== undefined) {
      mkdirSync(dataDirectory, { recursive: true })
      const found: Partial<Findings> = { [only]: await parts[only](plan) }
      console.log(renderParts(found))
      if (hasFailed(found)) process.exitCode = 1
      return
    }
    const findings = await measure(plan)
    console.log(renderFindings(findings))
    if (write) writeReport(join(import.meta.dirname, "..", "docs", "benchmarks.md"), findings)
    if (hasFailed(findings) || judgeGoals(findings).some((goal) => !goal.reached)) process.exitCode = 1
  } finally {
    for (const part of folders) await stopServices(join(dataDirectory, part))
    if (kept === undefined) rmSync(dataDirectory, { recursive: true, force: true })
  }
}

await run()
