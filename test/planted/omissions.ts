/**
 * Every place of the planted noun that can be forgotten, with the check that then names it: the compiler in a file, a
 * test, or the check of generated files. `missed`: the text that its message must have.
 */
export interface Omission {
  /** The files that are left out together: the noun's own files are removed, the others are as before. */
  readonly places: ReadonlyArray<string>
  readonly missed: RegExp
}

/** An omission that the compiler reports in `file`. */
export interface CompilerOmission extends Omission {
  readonly file: string
  /** The part of the place that is left out; absent: all of it. */
  readonly part?: RegExp
}

/** An omission that a test reports. */
export interface TestOmission extends Omission {
  readonly file: string
  readonly test: string
}

const compiler = (place: string, file: string, missed: RegExp, part?: RegExp): CompilerOmission => ({
  places: [place],
  file,
  missed,
  ...(part === undefined ? {} : { part })
})
/** A registry that does not compile without the noun's line. */
const registry = (place: string): CompilerOmission => compiler(place, place, /'voucher' is missing/)

const core = "src/machines/voucher"
const checks = "src/machines/venueChecks"
const services = "src/runtime/services/trading/voucher"
const comparison = "src/runtime/services/reconciliation"
const store = "src/runtime/store/checks"
const handlers = "src/runtime/services/operations/registries/VenueHandlers.ts"
const books = "simulator/venue/core"
const table = "src/runtime/tables/voucher.ts"
const operatorFeatures = "src/http/operator/operatorFeatures.ts"

export const compilerOmissions: ReadonlyArray<CompilerOmission> = [
  compiler(`${core}/Voucher.ts`, `${core}/voucherMachine.ts`, /Voucher\.ts/),
  compiler(`${core}/voucherMachine.ts`, "src/machines/tradingRegistry.ts", /voucherMachine\.ts/),
  compiler(`${core}/voucherSamples.ts`, "src/machines/tradingRegistry.ts", /voucherSamples\.ts/),
  compiler(`${core}/VoucherBody.ts`, `${services}/Vouchers.ts`, /VoucherBody\.ts/),
  compiler(`${core}/voucherGates.ts`, `${services}/Vouchers.ts`, /voucherGates\.ts/),
  registry("src/machines/tradingRegistry.ts"),
  compiler("src/machines/tradingRegistry.ts", "src/machines/tradingRegistry.ts", /'?PAID'?/, /^ {6}PAID: .*\n/m),
  registry("src/machines/stepTriggers.ts"),
  compiler("src/machines/shared/RefusalReason.ts", `${services}/Vouchers.ts`, /"Voucher"/),
  compiler("src/machines/Effects.ts", `${core}/voucherMachine.ts`, /"voucher\.paid"/),
  compiler("src/http/api/webhookEvents.ts", "src/http/api/webhookEvents.ts", /"voucher\.paid"/),

  compiler("src/machines/postingRules.ts", `${core}/voucherMachine.ts`, /"VOUCHER_RESERVE"/),
  compiler(
    "src/machines/postingRules.ts",
    "src/machines/postingRules.ts",
    /'venue' is missing/,
    /^ {4}venue: "vouchers",\n/m
  ),
  compiler(
    "src/machines/postingRules.ts",
    "src/machines/postingRules.ts",
    /'execution' is missing/,
    /,\n {4}execution: \{ orderType: "VOUCHER", side: "BUY", nature: "VOUCHER_BUY" \}/
  ),

  compiler("src/machines/venue/voucherAtVenue.ts", "src/machines/venue/venueNouns.ts", /voucherAtVenue\.ts/),
  compiler("src/machines/venue/venueNouns.ts", `${core}/voucherMachine.ts`, /"buyVoucher"/),
  compiler(`${checks}/voucherChecks.ts`, `${checks}/checkTable.ts`, /voucherChecks\.ts/),
  compiler(
    `${checks}/voucherChecks.ts`,
    `${checks}/voucherChecks.ts`,
    /'payout' is missing/,
    /^ {2}payout: \([^]*?\n {2}\},\n/m
  ),
  registry(`${checks}/checkTable.ts`),
  registry(handlers),
  registry(`${comparison}/comparedNouns.ts`),
  registry(`${store}/nounChecks.ts`),
  registry(`${books}/nouns.ts`),
  compiler(`${services}/voucherEvents.ts`, handlers, /voucherEvents\.ts/),
  compiler(`${comparison}/voucherComparison.ts`, `${comparison}/comparedNouns.ts`, /voucherComparison\.ts/),
  compiler(`${store}/voucherChecks.ts`, `${store}/nounChecks.ts`, /voucherChecks\.ts/),
  compiler(`${books}/voucherBooks.ts`, `${books}/nouns.ts`, /voucherBooks\.ts/),

  compiler(table, "src/runtime/tables/Catalogue.ts", /voucher\.ts/),
  compiler(table, table, /'open' is missing/, /^ {4}open: \{\n[^]*?\n {4}\},\n/m),
  compiler(table, table, /'returns' is missing/, /^ {4}returns: .*\n/m),
  compiler("src/runtime/tables/Catalogue.ts", `${services}/voucherDecisions.ts`, /"vouchers"/),
  compiler("src/runtime/migrations/NNNN_vouchers.ts", "src/runtime/migrations/migrate.ts", /_vouchers\.ts/),
  compiler("test/runtime/engine/fixtures.ts", "test/runtime/engine/fixtures.ts", /'vouchers' is missing/),
  registry("test/simulation/Coverage.ts"),

  compiler(`${services}/voucherDecisions.ts`, `${services}/Vouchers.ts`, /voucherDecisions\.ts/),
  compiler(`${services}/Vouchers.ts`, "src/http/handlers/vouchers.ts", /Vouchers\.ts/),
  compiler("src/http/api/VouchersApi.ts", "src/http/api/PartnerApi.ts", /VouchersApi\.ts/),
  compiler("src/http/api/PartnerApi.ts", "src/http/features.ts", /'vouchers'/),
  compiler("src/http/handlers/vouchers.ts", "src/http/features.ts", /handlers\/vouchers\.ts/),
  compiler("src/http/features.ts", "src/http/features.ts", /'vouchers' is missing/),

  compiler("src/http/api/operator/VoucherGroup.ts", "src/http/api/OperatorApi.ts", /VoucherGroup\.ts/),
  compiler(
    "src/http/api/operator/VoucherGroup.ts",
    "src/http/operator/VoucherHandlers.ts",
    /openTo|giveup|roles/i,
    /\.pipe\(openTo\(finance\)\)/
  ),
  compiler("src/http/api/OperatorApi.ts", "src/http/operator/VoucherHandlers.ts", /"voucher"/),
  compiler("src/http/operator/VoucherHandlers.ts", operatorFeatures, /VoucherHandlers\.ts/),
  registry(operatorFeatures),
  compiler("cli/commands/voucher.ts", "cli/program.ts", /commands\/voucher\.ts/)
]

/** The service runs without any of these, so they are left out together, and the test of each names it. */
export const testOmissions: ReadonlyArray<TestOmission> = [
  {
    places: ["test/machines/transitions/voucherRows.ts"],
    file: "test/machines/transitions.test.ts",
    test: "exist for every machine",
    missed: /voucherRows/
  },
  {
    places: ["test/scenarios/vouchers.test.ts"],
    file: "test/played.test.ts",
    test: "every write of the partner's contract has a scenario",
    missed: /POST \/partner\/v1\/clients\/:clientId\/vouchers/
  },
  {
    places: ["test/crash/voucherCrash.test.ts"],
    file: "test/played.test.ts",
    test: "every noun of the venue has a crash test",
    missed: /vouchers/
  },
  {
    places: ["docs/architecture.md"],
    file: "test/tidy.test.ts",
    test: "the parts of src/machines/ import only those before them",
    missed: /voucher stands in no order of src\/machines/
  },
  {
    places: ["docs/glossary.md"],
    file: "test/docs.test.ts",
    test: "the glossary has every noun",
    missed: /src\/machines\/voucher/
  },
  {
    places: ["cli/program.ts"],
    file: "test/cli/commands.test.ts",
    test: "every file of commands stands in the tree",
    missed: /addVoucherCommands/
  },
  {
    places: ["test/operator/dryRun.test.ts"],
    file: "test/operator/dryRun.test.ts",
    test: "the table of this test has a request for every command that writes",
    missed: /voucher giveup/
  },
  {
    places: ["test/operator/roleMatrix.test.ts"],
    file: "test/operator/roleMatrix.test.ts",
    test: "FINANCE and COMPLIANCE write only in their own field",
    missed: /voucher giveup/
  }
]

const withoutMigration = { places: ["src/runtime/migrations/migrate.ts"] }

/** Left out separately: without its table the service does not run, and a removed command is missing in the tree. */
export const otherOmissions: ReadonlyArray<TestOmission> = [
  {
    places: ["cli/commands/voucher.ts", "cli/program.ts"],
    file: "test/cli/commands.test.ts",
    test: "every endpoint is called by a command",
    missed: /voucher giveup/
  },
  {
    ...withoutMigration,
    file: "test/runtime/engine/catalogue.test.ts",
    test: "every table with its columns, types and empty columns is the one in the database",
    missed: /vouchers id bigint/
  },
  {
    ...withoutMigration,
    file: "test/runtime/engine/catalogue.test.ts",
    test: "every kind of id has its sequence",
    missed: /id_voucher/
  },
  {
    ...withoutMigration,
    file: "test/runtime/engine/catalogue.test.ts",
    test: "the index of executions has every type",
    missed: /VOUCHER_BUY/
  },
  {
    ...withoutMigration,
    file: "test/deadCode.test.ts",
    test: "there is none",
    missed: /migrations\/\d{4}_vouchers\.ts/
  }
]

/** `npm run generate` writes these files again, and its check names them. */
export const generatedFiles: ReadonlyArray<string> = [
  "docs/machines/voucher.md",
  "docs/machines/README.md",
  "test/fixtures/machineVersions.json",
  "docs/openapi.json",
  "docs/sandbox.md",
  "src/http/api/operator/commandTable.ts",
  "cli/operatorRoutes.json",
  "src/runtime/migrations/schema.sql"
]
