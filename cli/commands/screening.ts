/** `brokerage screening …`: the service's own watch list and published lists (operator surface, Back office; F26). */
import { type Command, Option } from "commander"
import { maxPlaces } from "../../src/machines/screening/WatchImport.ts"
import { watchLists } from "../../src/http/api/operator/operatorTokens.ts"
import type { Cli } from "../Cli.ts"
import type { Globals } from "../CliIo.ts"
import type { ListFile, ListOptions } from "../listFile.ts"
import type { OperatorClient } from "../OperatorClient.ts"
import {
  beforeOption,
  given,
  idArgument,
  limitOption,
  required,
  requiredToken,
  tokenOption,
  whole
} from "../options.ts"
import { amountLine } from "../progress.ts"
import { fields, page, table, time } from "../views/View.ts"

interface PageOptions {
  readonly limit?: number
  readonly before?: number
}

interface EntryOptions {
  readonly name: string
  readonly dob?: string
  readonly country?: string
  readonly list: (typeof watchLists)[number]
}

export const addScreeningCommands = (program: Command, cli: Cli): void => {
  const screening = program.command("screening").description("the service's own watch list")
  screening
    .command("add")
    .description("add a person; onboarding is screened against it at once, stored clients soon after")
    .addOption(required("--name <name>", "full name"))
    .option("--dob <date>", "date of birth, YYYY-MM-DD")
    .option("--country <CC>", "ISO 3166-1 alpha-2")
    .addOption(requiredToken("--list <list>", "the list", watchLists))
    .action(({ name, dob, country, list }: EntryOptions, command: Command) =>
      cli.call(command, (api) => api.screening.add({ payload: given({ name, dob, country, list }) }), fields)
    )
  screening
    .command("list")
    .description("current entries, newest first")
    .addOption(limitOption(5_000))
    .addOption(beforeOption)
    .action(({ limit, before }: PageOptions, command: Command) =>
      cli.call(
        command,
        (api) => api.screening.list({ query: given({ limit, before }) }),
        (data) =>
          page(
            table(
              data.entries,
              {
                id: (row) => row.entryId,
                list: (row) => row.list,
                name: (row) => row.name,
                dob: (row) => row.dob,
                country: (row) => row.country,
                source: (row) => row.source,
                version: (row) => row.version,
                added: (row) => time(row.addedAt)
              },
              "no entries"
            ),
            data
          )
      )
    )
  screening
    .command("remove")
    .description("remove an entry from the list")
    .addArgument(idArgument("<ID>", "entry id"))
    .action((entryId: string, _: object, command: Command) =>
      cli.call(command, (api) => api.screening.remove({ params: { entryId } }), fields, {
        confirm: `Remove entry ${entryId} from the watch list?`
      })
    )
  addSourceCommands(screening, cli)
}

const addSourceCommands = (screening: Command, cli: Cli): void => {
  screening
    .command("sources")
    .description("the published lists with their current versions")
    .action((_: object, command: Command) =>
      cli.call(
        command,
        (api) => api.screening.sources(),
        ({ sources }) =>
          table(
            sources,
            {
              source: (row) => row.source,
              version: (row) => row.version,
              entries: (row) => row.entries,
              imported: (row) => time(row.importedAt),
              "no persons": ({ report }) => report?.notPersons,
              "left out": ({ report }) => report?.badLines.join(", "),
              unreadable: ({ report }) =>
                report === null || report.unread === 0 ? null : `${report.unread}: ${report.unreadAt.join("; ")}`,
              importing: ({ importing }) =>
                importing === null ? null : `${importing.version}: ${importing.received} of ${importing.count}`
            },
            "no lists"
          )
      )
    )
  screening
    .command("passes")
    .description("the passes that screen stored clients again, newest first")
    .addOption(limitOption(1_000))
    .addOption(beforeOption)
    .action(({ limit, before }: PageOptions, command: Command) =>
      cli.call(
        command,
        (api) => api.screening.passes({ query: given({ limit, before }) }),
        (data) =>
          page(
            table(
              data.passes,
              {
                id: (row) => row.passId,
                trigger: (row) => row.trigger,
                scope: (row) => row.scope,
                status: (row) => row.status,
                screened: (row) => row.screened,
                hits: (row) => row.hits,
                possible: (row) => row.possible,
                started: (row) => time(row.startedAt),
                ended: (row) => time(row.endedAt)
              },
              "no passes"
            ),
            data
          )
      )
    )
  screening
    .command("import")
    .description("make a file the current version of its source; a repeat continues where the first run stopped")
    .argument(
      "<FILE>",
      "CSV with a header row, the simple table of OpenSanctions, OFAC's CSV, XML of the EU or UN, or JSON"
    )
    .addOption(tokenOption("--list <list>", "the list of entries that name none", watchLists))
    .option("--source <name>", "the publisher of the list, such as EU or OFAC")
    .option("--version <version>", "version of the list, such as 2026-11-20")
    .option("--alternate-names <file>", "OFAC's further file of alternate names (alt.csv)")
    .option("--comments <file>", "OFAC's further file of long remarks (sdn_comments.csv)")
    .addOption(
      new Option("--bad-lines <n>", "the largest number of lines without a readable name to leave out")
        .argParser(whole(0, maxPlaces))
        .default(0)
    )
    .option("--allow-shrink", "allow the removal of more than a fifth of the source's entries")
    .action((path: string, options: ImportOptions, command: Command) => importList(cli, command, path, options))
}

interface ImportOptions extends ListOptions {
  readonly allowShrink?: boolean
}

const importList = async (cli: Cli, command: Command, path: string, options: ImportOptions): Promise<void> => {
  const [{ readListFile }, { sendList, sendQuestion }] = await Promise.all([
    import("../listFile.ts"),
    import("../sendList.ts")
  ])
  let read: ListFile | null = null
  await cli.attempt(command, async () => void (read = await readListFile(path, options)))
  const file = read as ListFile | null
  if (file === null) return
  const { count, source, version } = file
  const globals = command.optsWithGlobals<Globals>()
  const { dryRun } = globals
  const progress = cli.progressOf(globals)
  let began: { readonly at: number; readonly before: number } | null = null
  const onSent = (received: number): void => {
    // Entries that an earlier run sent do not count towards the rate.
    began ??= { at: Date.now(), before: received }
    const { at, before } = began
    const amount = { done: received, total: count, unit: "entries", millis: Date.now() - at, before }
    progress.report(`screening import: ${amountLine(amount)}`)
  }
  // A dry run only announces the file: its pieces need an import, which a dry run does not start.
  const announce = { count, source, version, hash: file.hash, report: file.report }
  const sent = (api: OperatorClient) =>
    sendList(api, file, options.allowShrink === true, onSent).finally(() => progress.end())
  const send = (api: OperatorClient) => (dryRun === true ? api.screening.import({ payload: announce }) : sent(api))
  await cli.call(command, send, fields, {
    deed: false,
    confirm: (api) => sendQuestion(api, file)
  })
}
