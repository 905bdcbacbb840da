/**
 * Every place of the planted noun that somebody can forget, with what names it then: the compiler in a file, a test, or
 * the check of generated files. `missed` is what its message has to say.
 */
export interface Omission {
  /** The files that are left out together; what belongs to the noun alone is not there, the others are as before. */
  readonly places: ReadonlyArray<string>
  readonly missed: RegExp
}

/** Named by the compiler in `file`. */
export interface CompilerOmission extends Omission {
  readonly file: string
  /** Left out of the place instead of all of it. */
  readonly part?: RegExp
}

/** Named by a test. */
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

const core = "src/machines/voucher"
const services = "src/runtime/services/money/voucher"
const operatorFeatures = "src/http/operator/operatorFeatures.ts"

export const compilerOmissions: ReadonlyArray<CompilerOmission> = [
  compiler(`${core}/Voucher.ts`, `${core}/voucherMachine.ts`, /Voucher\.ts/),
  compiler(`${core}/voucherMachine.ts`, "src/machines/registry.ts", /voucherMachine\.ts/),
  compiler(`${core}/voucherSamples.ts`, "src/machines/registry.ts", /voucherSamples\.ts/),
  compiler(`${core}/VoucherBody.ts`, `${services}/Vouchers.ts`, /VoucherBody\.ts/),
  compiler("src/machines/registry.ts", "src/runtime/tables/voucher.ts", /"voucher"/),
  compiler("src/machines/registry.ts", "src/machines/registry.ts", /'?REDEEMED'?/, /^ {6}REDEEMED: .*\n/m),
  compiler("src/machines/shared/RefusalReason.ts", `${services}/Vouchers.ts`, /"Voucher"/),
  compiler("src/machines/stepTriggers.ts", "src/machines/stepTriggers.ts", /'voucher' is missing/),
  compiler("src/machines/Effects.ts", `${core}/voucherMachine.ts`, /"voucher\.redeemed"/),
  compiler("src/http/api/webhookEvents.ts", "src/http/api/webhookEvents.ts", /"voucher\.redeemed"/),
  compiler("src/runtime/tables/voucher.ts", "src/runtime/tables/Catalogue.ts", /voucher\.ts/),
  compiler(
    "src/runtime/tables/voucher.ts",
    "src/runtime/tables/voucher.ts",
    /'open' is missing/,
    /^ {4}open: \{\n[^]*?\n {4}\},\n/m
  ),
  compiler(
    "src/runtime/tables/voucher.ts",
    "src/runtime/tables/voucher.ts",
    /'returns' is missing/,
    /^ {4}returns: null,\n/m
  ),
  compiler("src/runtime/tables/Catalogue.ts", `${services}/voucherDecisions.ts`, /"vouchers"/),
  compiler("src/runtime/migrations/NNNN_vouchers.ts", "src/runtime/migrations/migrate.ts", /_vouchers\.ts/),
  compiler("test/runtime/engine/fixtures.ts", "test/runtime/engine/fixtures.ts", /'vouchers' is missing/),
  compiler("test/simulation/Coverage.ts", "test/simulation/Coverage.ts", /'voucher' is missing/),
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
    /openTo|redeem|roles/i,
    /\.pipe\(openTo\(finance\)\)/
  ),
  compiler("src/http/api/OperatorApi.ts", "src/http/operator/VoucherHandlers.ts", /"voucher"/),
  compiler("src/http/operator/VoucherHandlers.ts", operatorFeatures, /VoucherHandlers\.ts/),
  compiler(operatorFeatures, operatorFeatures, /'voucher' is missing/),
  compiler("cli/commands/voucher.ts", "cli/program.ts", /commands\/voucher\.ts/)
]

/** None of these keeps the service from running, so that they are left out together and each is named by itself. */
export const testOmissions: ReadonlyArray<TestOmission> = [
  {
    places: ["test/machines/transitions/voucherRows.ts"],
    file: "test/machines/transitions.test.ts",
    test: "exist for every machine",
    missed: /voucherRows/
  },
  {
    places: ["cli/program.ts"],
    file: "test/cli/commands.test.ts",
    test: "every file of commands stands in the tree",
    missed: /addVoucherCommands/
  },
  {
    places: ["test/scenarios/vouchers.test.ts"],
    file: "test/played.test.ts",
    test: "every write of the partner's contract has a scenario",
    missed: /POST \/partner\/v1\/clients\/:clientId\/vouchers/
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
    places: ["test/operator/dryRun.test.ts"],
    file: "test/operator/dryRun.test.ts",
    test: "the table of this test has a request for every command that writes",
    missed: /voucher redeem/
  },
  {
    places: ["test/operator/roleMatrix.test.ts"],
    file: "test/operator/roleMatrix.test.ts",
    test: "FINANCE and COMPLIANCE write only in their own field",
    missed: /voucher redeem/
  }
]

const withoutMigration = { places: ["src/runtime/migrations/migrate.ts"] }

/** Left out apart from those: without its table the service does not run, and a command that is gone stands in no tree. */
export const otherOmissions: ReadonlyArray<TestOmission> = [
  {
    places: ["cli/commands/voucher.ts", "cli/program.ts"],
    file: "test/cli/commands.test.ts",
    test: "every endpoint is called by a command",
    missed: /voucher redeem/
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
    file: "test/deadCode.test.ts",
    test: "there is none",
    missed: /migrations\/\d{4}_vouchers\.ts/
  }
]

/** What `npm run generate` writes anew; its check names them. */
export const generatedFiles: ReadonlyArray<string> = [
  "docs/machines/voucher.md",
  "docs/machines/README.md",
  "test/fixtures/machineVersions.json",
  "docs/openapi.json",
  "docs/sandbox.md",
  "src/http/api/operator/commandTable.ts",
  "src/runtime/migrations/schema.sql"
]
