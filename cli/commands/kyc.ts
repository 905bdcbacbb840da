/** `brokerage kyc …`: reads a client's KYC file and decides on it (operator surface, Back office; D1, D2). */
import { type Command, Option } from "commander"
import type { Cli } from "../Cli.ts"
import type { Globals } from "../CliIo.ts"
import { clearQuestion } from "../clearQuestion.ts"
import { readCases, type ReadCase } from "../readCases.ts"
import type { OperatorClient } from "../OperatorClient.ts"
import { clientArgument, given, required, whole } from "../options.ts"
import { aboutClient, clientText } from "../questions.ts"
import { kycFileView } from "../views/kycFile.ts"
import { clientView } from "./client.ts"

interface Reasoned {
  readonly reason: string
}

interface ClearOptions {
  readonly note?: string
  readonly revision?: number
  readonly case?: ReadonlyArray<number>
  readonly screeningRun?: number
}

/**
 * The `--revision` option. `what` ends the sentence of its help text: a revision later than the given one "is not" `what`.
 */
const revisionOption = (what: string) =>
  new Option(
    "--revision <n>",
    `the revision that you have read, as case show and kyc show print it; a later one is not ${what}`
  ).argParser(whole(1, Number.MAX_SAFE_INTEGER))

const caseOption = new Option(
  "--case <id>",
  "an open case that you have read, once for each; no other open case is cleared. Without it the command shows the open cases and clears exactly these"
).argParser((text: string, before: ReadonlyArray<number> = []) => [...before, caseId(text)])
const caseId = whole(1, Number.MAX_SAFE_INTEGER)

const screeningRunOption = new Option(
  "--screening-run <n>",
  "beside --case: the highest screeningRunId that case show printed for them, 0 for none; findings of a later run are not cleared"
).argParser(whole(0, Number.MAX_SAFE_INTEGER))

/**
 * Clears the cases that the options name. Without them the command reads the revision and the open cases once, before it
 * prompts for confirmation, and clears exactly those cases.
 */
const clear = (cli: Cli, c: string, options: ClearOptions, command: Command): Promise<void> => {
  const { note, revision, screeningRun, case: named } = options
  const globals = command.optsWithGlobals<Globals>()
  let reviewed: ReadCase | null = named === undefined ? null : { cases: named, ...given({ screeningRun }) }
  const review = async (api: OperatorClient): Promise<ReadCase> =>
    (reviewed ??= await readCases(api, c, (line) =>
      globals.json === true ? undefined : cli.io.stderr(`${cli.line(globals, line)}\n`)
    ))
  return cli.call(
    command,
    async (api) =>
      api.kyc.clear({ params: { client: c }, payload: { ...(await review(api)), ...given({ note, revision }) } }),
    clientView,
    {
      about: lastCase(c),
      confirm: async (api) => {
        const { cases } = await review(api)
        return clearQuestion(api, await clientText(api, c), cases)
      }
    }
  )
}

/**
 * The client's newest case as an object (`case:ID`), or null. After a conflict the command shows the ruling on this case,
 * which another operator may have made in the meantime.
 */
const lastCase =
  (client: string) =>
  async (api: OperatorClient): Promise<string | null> => {
    const [newest] = (await api.case.list({ query: { client, limit: 1 } })).data.cases
    return newest === undefined ? null : `case:${newest.caseId}`
  }

export const addKycCommands = (program: Command, cli: Cli): void => {
  const kyc = program.command("kyc").description("compliance decisions on a client's KYC")
  kyc
    .command("show")
    .description("the client's whole KYC file; every read is audited")
    .addArgument(clientArgument())
    .addOption(required("--reason <text>", "why you read it; kept in the audit"))
    .action((c: string, { reason }: Reasoned, command: Command) =>
      cli.call(command, (api) => api.kyc.show({ params: { client: c }, payload: { reason } }), kycFileView)
    )
  kyc
    .command("clear")
    .description("clear the client's open cases, and grant the level again if nothing else prevents it")
    .addArgument(clientArgument())
    .option(
      "--note <text>",
      "your findings; kept in the case; required for a candidate of screening and for a true match"
    )
    .addOption(revisionOption("cleared"))
    .addOption(caseOption)
    .addOption(screeningRunOption)
    .action((c: string, options: ClearOptions, command: Command) => clear(cli, c, options, command))
  kyc
    .command("sample")
    .description("put the client's accepted package under a spot check; the client's state does not change")
    .addArgument(clientArgument())
    .action((c: string, _: object, command: Command) =>
      cli.call(command, (api) => api.kyc.sample({ params: { client: c } }), clientView)
    )
  kyc
    .command("request-documents")
    .description("request the underlying documents from the partner; the client's state does not change")
    .addArgument(clientArgument())
    .addOption(required("--note <text>", "which documents; the partner reads it"))
    .action((c: string, { note }: { readonly note: string }, command: Command) =>
      cli.call(command, (api) => api.kyc["request-documents"]({ params: { client: c }, payload: { note } }), clientView)
    )
  addRejections(kyc, cli)
}

const addRejections = (kyc: Command, cli: Cli): void => {
  kyc
    .command("reject")
    .description("reject reliance on the client's KYC package")
    .addArgument(clientArgument())
    .addOption(required("--reason <text>", "why; the partner reads it"))
    .addOption(revisionOption("rejected"))
    .action((c: string, { reason, revision }: Reasoned & Pick<ClearOptions, "revision">, command: Command) =>
      cli.call(
        command,
        (api) => api.kyc.reject({ params: { client: c }, payload: { reason, ...given({ revision }) } }),
        clientView,
        {
          confirm: aboutClient(
            c,
            (it) => `Reject reliance on ${it}? Its level falls to NONE and the partner gets an event.`
          )
        }
      )
    )
  kyc
    .command("reject-person")
    .description("refuse the person for good; needs an account without money or open items")
    .addArgument(clientArgument())
    .addOption(required("--reason <text>", "why; kept in the audit"))
    .action((c: string, { reason }: Reasoned, command: Command) =>
      cli.call(command, (api) => api.kyc["reject-person"]({ params: { client: c }, payload: { reason } }), clientView, {
        confirm: aboutClient(c, (it) => `Refuse the person of ${it} for good? Only compliance can reopen it.`)
      })
    )
}
