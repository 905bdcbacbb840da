/** `brokerage statement …`: lists, makes, downloads, corrects and verifies statements (operator surface; STS-31). */
import { createHash } from "node:crypto"
import { readFileSync, statSync } from "node:fs"
import { type Command, Option } from "commander"
import { statementKinds } from "../../src/machines/statement/statementTokens.ts"
import type { Cli } from "../Cli.ts"
import { CliFailure, cliFailure, exitStatus } from "../CliIo.ts"
import { findConnection } from "../connection.ts"
import {
  beforeOption,
  clientArgument,
  given,
  idArgument,
  limitOption,
  required,
  requiredToken,
  whole
} from "../options.ts"
import { momentOption } from "../moment.ts"
import { intoFile, refuseExisting } from "../outputFile.ts"
import type { StatementJob, StatementJobFailure } from "../../src/http/api/operator/StatementGroup.ts"
import { fields, page, stack, table, text, time, richText } from "../views/View.ts"

interface GenerateOptions {
  readonly kind: (typeof statementKinds)[number]
  readonly from?: number
  readonly to?: number
  readonly taxYear?: number
  readonly quarter?: string
}

interface GetOptions {
  readonly format: "json" | "pdf" | "csv"
  readonly output: string
}

export const addStatementCommands = (program: Command, cli: Cli): void => {
  const statement = program.command("statement").description("statements of clients")
  addListCommand(statement, cli)
  addMakingCommands(statement, cli)
  addJobsCommand(statement, cli)
  statement
    .command("get")
    .description("save a statement: its model, its PDF or its CSV")
    .addArgument(idArgument("<ID>", "statement id"))
    .addOption(requiredToken("--format <format>", "the format", ["json", "pdf", "csv"]))
    .addOption(required("--output <file>", "the file, readable by you alone; --yes overwrites it"))
    .action((id: string, options: GetOptions, command: Command) => save(cli, id, options, command))
  statement
    .command("verify")
    .description("prove a PDF or a model: its hash, the stored model, the ledger's seal, the rendered bytes")
    .argument("<FILE>", "a statement's PDF, or its model.json")
    .action((file: string, _options: object, command: Command) => prove(cli, file, command))
}

const addListCommand = (statement: Command, cli: Cli): void => {
  statement
    .command("list")
    .description("a client's statements, all versions, newest first")
    .addArgument(clientArgument())
    .addOption(new Option("--kind <kind>", "only this kind").choices(statementKinds))
    .addOption(limitOption(200))
    .addOption(beforeOption)
    .action((client: string, options: object, command: Command) =>
      cli.call(
        command,
        (api) => api.statement.list({ params: { client }, query: given(options) }),
        ({ statements }) =>
          table(
            statements,
            {
              id: (row) => row.statementId,
              kind: (row) => row.kind,
              from: (row) => time(row.periodFrom),
              to: (row) => time(row.periodTo),
              version: (row) => row.version,
              state: (row) => row.state,
              rows: (row) => row.rows,
              made: (row) => time(row.generatedAt),
              by: (row) => row.generatedBy
            },
            "no statements"
          )
      )
    )
}

const addJobsCommand = (statement: Command, cli: Cli): void => {
  statement
    .command("jobs")
    .description("the statement jobs: their runs, the statements made, and the failed clients with the reason")
    .addOption(limitOption(200))
    .addOption(beforeOption)
    .action((options: object, command: Command) =>
      cli.call(
        command,
        (api) => api.statement.jobs({ query: given(options) }),
        ({ jobs, failures, next, ...end }) =>
          stack(
            page(table(jobs, jobColumns, "no jobs"), end),
            ...(failures.length === 0 ? [] : [table(failures, failureColumns, "no client has failed")]),
            text(next === null ? "Nothing is due yet." : richText`Next is ${next.name}, due ${time(next.dueAt)}.`)
          )
      )
    )
}

/**
 * The UTC day of a period's boundary. A boundary is midnight (for British tax, midnight in London), so a UTC time other than
 * 00:00 is shown too.
 */
const dayOf = (millis: number): string => {
  const [day = "", clock = ""] = new Date(millis).toISOString().split(/T|:00\.000Z/)
  return clock === "00:00" ? day : `${day}T${clock}Z`
}

type Job = typeof StatementJob.Type
/** Columns of a job. On a narrow terminal, id and name are dropped last, and the results just before them. */
const jobColumns: Parameters<typeof table<Job>>[1] = {
  id: (row) => row.jobId,
  job: { cell: (row) => row.name, rank: -8 },
  from: { cell: (row) => dayOf(row.periodFrom), rank: -2 },
  to: { cell: (row) => dayOf(row.periodTo), rank: -3 },
  due: { cell: (row) => time(row.dueAt), rank: 6 },
  began: { cell: (row) => time(row.startedAt), rank: 5 },
  ended: { cell: (row) => time(row.endedAt), rank: 4 },
  clients: { cell: (row) => row.clients, rank: -5 },
  made: { cell: (row) => row.made, rank: -6 },
  failed: { cell: (row) => row.failed, rank: -7 },
  left: { cell: (row) => row.left, rank: -4 }
}

type Failure = typeof StatementJobFailure.Type
const failureColumns: Parameters<typeof table<Failure>>[1] = {
  job: (row) => row.jobId,
  client: (row) => row.clientId,
  tries: (row) => row.tries,
  failed: { cell: (row) => time(row.failedAt), rank: 5 },
  "next try": (row) => time(row.retryAt),
  reason: { cell: (row) => row.reason, rank: -4 }
}

const addMakingCommands = (statement: Command, cli: Cli): void => {
  statement
    .command("generate")
    .description("make a statement, or return the existing one if its content is the same")
    .addArgument(clientArgument())
    .addOption(requiredToken("--kind <kind>", "the kind of statement", statementKinds))
    .addOption(momentOption("--from <time>", "from this time on"))
    .addOption(momentOption("--to <time>", "before this time"))
    .addOption(new Option("--tax-year <year>", "the year in which it begins").argParser(whole(2000, 9998)))
    .option("--quarter <quarter>", "such as 2026-Q1")
    .action((client: string, options: GenerateOptions, command: Command) =>
      cli.call(command, (api) => api.statement.generate({ params: { client }, payload: given(options) }), fields)
    )
  statement
    .command("correct")
    .description(
      "build a statement's period again; changed content makes its next version, unchanged content is refused"
    )
    .addArgument(idArgument("<ID>", "statement id"))
    .addOption(required("--reason <text>", "why; kept in the audit and shown with the new version"))
    .action((statementId: string, { reason }: { readonly reason: string }, command: Command) =>
      cli.call(command, (api) => api.statement.correct({ params: { statementId }, payload: { reason } }), fields)
    )
}

const save = (cli: Cli, statementId: string, { format, output }: GetOptions, command: Command): Promise<void> =>
  cli.attempt(command, async (globals) => {
    const connection = findConnection(globals, cli.io)
    refuseExisting(output, globals)
    const { callService } = await import("../OperatorClient.ts")
    const bytes = await intoFile(output, async (write) => {
      let size = 0
      await callService(connection, async (api) => {
        for await (const chunk of await api.statement.get({ params: { statementId }, query: { format } })) {
          write(chunk)
          size += chunk.length
        }
      })
      return size
    })
    return cli.show(globals, { statementId: Number(statementId), format, output, bytes }, fields)
  })

/** The statement id in a PDF's document information, which contains only constants, ids and the hash. */
const idOfPdf = (bytes: Buffer): string | null =>
  /statement ([1-9][0-9]{0,18}) version/.exec(bytes.toString("latin1"))?.[1] ?? null

const prove = (cli: Cli, file: string, command: Command): Promise<void> =>
  cli.attempt(command, async (globals) => {
    const connection = findConnection(globals, cli.io)
    const bytes = readWhole(file)
    const hash = createHash("sha256").update(bytes).digest("hex")
    const isPdf = bytes.subarray(0, 5).toString("latin1") === "%PDF-"
    const named = isPdf ? idOfPdf(bytes) : hash
    if (named === null || (!isPdf && !isModel(bytes))) throw noStatement
    const { callService } = await import("../OperatorClient.ts")
    const { data } = await callService(connection, (api) => api.statement.verify({ params: { statement: named } }))
    const { statement, modelSha256, pdfSha256, sealed } = data
    const proof = {
      statementId: statement.statementId,
      version: statement.version,
      state: statement.state,
      sha256: statement.sha256,
      file: isPdf ? hash === pdfSha256 : hash === statement.sha256,
      model: modelSha256 === statement.sha256,
      seal: sealed ?? true
    }
    const ok = proof.file && proof.model && proof.seal
    await cli.show(globals, { ok, ...proof }, fields)
    if (!ok) throw new CliFailure(exitStatus.refused, differs)
  })

const noStatement = cliFailure(
  exitStatus.refused,
  4004,
  "The file is no statement: neither a statement's PDF nor its model.json."
)

/** Whether the file is a statement's model: a JSON object with the members that every model has. */
const isModel = (bytes: Buffer): boolean => {
  try {
    const model = JSON.parse(bytes.toString("utf8")) as Readonly<Record<string, unknown>> | null
    return typeof model === "object" && model !== null && "clientUid" in model && "sections" in model
  } catch {
    return false
  }
}

const differs = {
  code: 4092,
  msg: "The file differs from the service's record.",
  error: "The file differs from the service's record."
}

/** Longest file to read, bytes: much more than the longest statement needs, as a PDF or as a model. */
const mostBytes = 256 * 1024 * 1024

const readWhole = (file: string): Buffer => {
  let size: number
  try {
    size = statSync(file).size
    if (size <= mostBytes) return readFileSync(file)
  } catch {
    throw cliFailure(exitStatus.usage, 4000, "The file can not be read.")
  }
  throw cliFailure(exitStatus.refused, 4000, "The file is too large to be a statement.")
}
