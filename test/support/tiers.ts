/**
 * The tiers of tests. One table says for every test file how it runs and in which tier it begins; each tier holds the one
 * before: `npm run test:fast`, `npm test`, `npm run test:deep`. A file that no row covers, or two rows, fails the run.
 */
import { existsSync, readdirSync } from "node:fs"
import { join, matchesGlob, relative } from "node:path"

const tiers = ["fast", "test", "deep"] as const
export type Tier = (typeof tiers)[number]

/**
 * The tier that a mode of vitest (`--mode`) selects; without the option the mode is `test`. Throws one sentence for any other.
 */
export const tierOfMode = (mode: string): Tier => {
  const found = tiers.find((tier) => tier === mode)
  if (found === undefined)
    throw new Error(`The mode is "${mode}"; it must be ${tiers.slice(0, -1).join(", ")} or ${tiers.at(-1)}.`)
  return found
}

/**
 * `pure`: no database and no child process; HTTP on the stub is pure. `service`: the service in the test's own process, on a
 * database. `process`: real services and child processes. Files of a kind share workers, because a worker takes as much processor
 * time to start as a service does; except those that change the state of their process (time zone, globals): they are `alone`.
 */
type Kind = "pure" | "service" | "process"

interface Row {
  readonly kind: Kind
  readonly files: ReadonlyArray<string>
  readonly except?: ReadonlyArray<string>
  /** Why these files need a worker of their own, although they are pure or service files. */
  readonly alone?: string
  /** Whether these files share one service per worker: each uses partners of its own and makes no claim about others. */
  readonly shares?: true
  /** The first tier that runs these files. Default: `fast` for pure files, `test` for all others. */
  readonly from?: Tier
}

/** Pure files in folders of service files. */
const pureAmongServices = [
  "test/guarantees/{houseNeverPays,lateObjects,riskIndex}.test.ts",
  "test/operator/whenAway.test.ts",
  "test/scenarios/{killStep,yamlCheck,yamlForm,yamlRunner}.test.ts"
]
/** Service files in folders of pure files. */
const servicesAmongPure = [
  "test/runtime/{databasePool,migrations,payoutCorrections,sealedSettlement,sealedValues}.test.ts",
  "test/runtime/tradingTables.test.ts",
  "test/runtime/engine/{batchStatement,catalogue,journalPg,journalPgFailures,lockedRows}.test.ts",
  "test/runtime/engine/{subjectLoader,timers,workingOrders}.test.ts",
  "test/runtime/ledger/*.test.ts",
  "test/runtime/services/{exposureReads,levelReads,partnerBooks,rowReads}.test.ts",
  "test/runtime/statement/{jobHistories,modelBuilds,statementHistories}.test.ts",
  "test/runtime/webhooks/{deliveryFairness,deliveryStore,deliveryWorker,feedSweep,webhookPorts}.test.ts",
  "test/runtime/webhooks/{webhookSender,wiring}.test.ts"
]
/** Files with child processes in folders of other kinds. */
const processes = [
  "test/cli/{completion,output,scripts,serveFailures,serveOutput,serveVenue}.test.ts",
  "test/guarantees/{personalData,unwritable}.test.ts",
  "test/http/{guides,pythonUploads,roles}.test.ts",
  "test/machines/pictures.test.ts",
  "test/operator/{contractFaults,ledgerExport,machineFollow,questions,simVenueReal,venueComparison}.test.ts",
  "test/runtime/{embeddedPostgres,embeddedVenue,launcher}.test.ts",
  "test/runtime/statement/renderedFiles.test.ts",
  "test/scenarios/{examples,firstHour,yamlFiles,yamlOwn}.test.ts",
  "test/simulation/simulation.test.ts",
  "test/venue/{fullDisk,serverProcess}.test.ts",
  "test/webhooks/{demoService,tour}.test.ts"
]
/** Crash files that judge recorded books: nothing is killed in them. */
const audits = ["test/crash/{balanceHistory,simPartner,tradeAudit,webhookAudit}.test.ts"]
/**
 * Crash tests whose set-up alone takes a minute, and further members of a claim, of which the files of orders, contracts,
 * frozen traders and statement builds play one in `npm test`.
 */
const deepCrashes = [
  "test/crash/{cleanStop,closeOutFaultCrash,contractCrash,fundingFaultCrash,lyingVenue,personKeys,screeningPass}.test.ts",
  "test/crash/{servicesAtOneVenue,stakingFaultCrash,statementEndOfDay,venueCrash}.test.ts"
]
const fakeTimers = ["test/http/readBody.test.ts"]
const threads = ["test/runtime/statement/processorTurns.test.ts"]
const timeZone = ["test/runtime/statement/referenceStatements.test.ts"]

/**
 * Files whose partners do not affect other partners: they move neither clock nor prices, halt nothing, import no lists, refuse no
 * person for good, change no keys and damage no rows. Their counts of rows hold because one worker runs one file at a time.
 */
const sharing = [
  "test/operator/{badRequests,custodyChange,deposits,documents,interfirm}.test.ts",
  "test/operator/{partnerClosing,statements}.test.ts",
  "test/scenarios/{collateral,collateralRefusals,deposits,kycRefusals,moneyBounds,onboarding}.test.ts",
  "test/scenarios/{onboardingFields,settlementItemReports,statementBooks,statementRoutes}.test.ts",
  "test/scenarios/{verification,withdrawals}.test.ts",
  "test/guarantees/{atMostOnce,tenantIsolation}.test.ts"
]

const rows: ReadonlyArray<Row> = [
  {
    kind: "pure",
    files: [
      "test/*.test.ts",
      "test/{cli,http,machines,runtime,venue,webhooks}/**/*.test.ts",
      ...pureAmongServices,
      ...audits
    ],
    except: [
      ...servicesAmongPure,
      ...processes,
      ...fakeTimers,
      ...threads,
      ...timeZone,
      "test/webhooks/listenCommand.test.ts"
    ]
  },
  { kind: "pure", files: fakeTimers, alone: "it replaces the timers of its process" },
  { kind: "pure", files: threads, alone: "it lowers the priority of threads" },
  { kind: "pure", files: timeZone, alone: "it changes the time zone of its process" },
  {
    kind: "pure",
    files: ["test/simulation/power.test.ts"],
    alone: "it runs the whole system for minutes",
    from: "deep"
  },
  {
    kind: "service",
    files: [
      "test/{guarantees,operator,scenarios}/*.test.ts",
      ...servicesAmongPure,
      "test/webhooks/listenCommand.test.ts"
    ],
    except: [...pureAmongServices, ...processes, ...sharing]
  },
  { kind: "service", files: sharing, shares: true },
  {
    kind: "process",
    files: ["test/crash/*.test.ts", ...processes, "linters/*.test.ts"],
    except: [...audits, ...deepCrashes]
  },
  { kind: "process", files: ["test/planted/*.test.ts", ...deepCrashes], from: "deep" }
]

const covers = ({ files, except = [] }: Row, file: string): boolean =>
  files.some((glob) => matchesGlob(file, glob)) && !except.some((glob) => matchesGlob(file, glob))

/** A sentence for each file that no row covers, or several. */
export const misplaced = (files: ReadonlyArray<string>, table: ReadonlyArray<Row> = rows): ReadonlyArray<string> =>
  files.flatMap((file) => {
    const found = table.filter((row) => covers(row, file)).length
    if (found === 1) return []
    const wrong = found === 0 ? "No row covers" : `${found} rows cover`
    return [`${wrong} ${file}: each test file has one row in test/support/tiers.ts.`]
  })

/** Whether a tier runs the files of a row. */
const isIn = (tier: Tier, { kind, from = kind === "pure" ? "fast" : "test" }: Row): boolean =>
  tiers.indexOf(from) <= tiers.indexOf(tier)

/** The test files of the project, with `/` between folders. */
export const testFiles = (root: string): ReadonlyArray<string> =>
  ["test", "linters"]
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)).replaceAll("\\", "/"))
    .filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules/"))
    .toSorted()

/** The files of a tier by project of the test runner. */
export const filesOf = (tier: Tier, files: ReadonlyArray<string>) => {
  const of = (wanted: (row: Row) => boolean) =>
    files.filter((file) => rows.some((row) => isIn(tier, row) && wanted(row) && covers(row, file)))
  return {
    pure: of(({ kind, alone }) => kind === "pure" && alone === undefined),
    service: of(({ kind, alone, shares }) => kind === "service" && alone === undefined && shares === undefined),
    sharing: of(({ shares }) => shares !== undefined),
    alone: of(({ alone }) => alone !== undefined),
    process: of(({ kind }) => kind === "process")
  }
}

/** The named parts of the deep tier: a change plays those that it touches before it is done. `rest` is every other file. */
const sets: Readonly<Record<string, ReadonlyArray<string>>> = {
  simulation: ["test/simulation/*.test.ts"],
  crash: ["test/crash/*.test.ts"],
  scenarios: ["test/scenarios/yaml*.test.ts"],
  planted: ["test/planted/*.test.ts"]
}

/** The names of all sets, and their files among these; each file is in one set. */
export const setsOf = (files: ReadonlyArray<string>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const isOf = (globs: ReadonlyArray<string>) => (file: string) => globs.some((glob) => matchesGlob(file, glob))
  const named = Object.entries(sets).map(([name, globs]) => [name, files.filter(isOf(globs))] as const)
  return new Map([...named, ["rest", files.filter((file) => !Object.values(sets).some((globs) => isOf(globs)(file)))]])
}
