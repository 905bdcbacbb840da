/** `brokerage audit tail`: audit rows, newest last (operator surface, Back office; A3-45). */
import { type Command, Option } from "commander"
import { setTimeout as pause } from "node:timers/promises"
import type { Cli } from "../Cli.ts"
import { findConnection } from "../connection.ts"
import { beforeOption, clientOption, given, limitOption, objectName, partnerOption } from "../options.ts"
import { momentOption } from "../moment.ts"
import { changeText } from "../views/stateText.ts"
import { joined, Moment, partnerNamed, stack, table, text, time, type View, type RichText } from "../views/View.ts"

interface TailOptions {
  readonly client?: string
  readonly partner?: string
  readonly object?: string
  readonly since?: number
  readonly limit?: number
  readonly before?: number
  readonly follow?: boolean
}

export interface Entry {
  readonly auditId: number
  readonly ts: number
  readonly role: string
  readonly keyLabel: string
  readonly requestId: string
  readonly partnerId: number | null
  readonly clientId: number | null
  readonly object: string | null
  readonly action: string
  readonly before: string | null
  readonly after: string | null
  readonly reason: string | null
}

interface Tail {
  readonly entries: ReadonlyArray<Entry>
  readonly hasMore: boolean
  readonly nextBefore: number | null
}

/** Poll interval of `--follow`, ms. */
const pollMillis = 1_000

export const addAuditCommands = (program: Command, cli: Cli): void => {
  program
    .command("audit")
    .description("the audit stream")
    .command("tail")
    .description("the newest rows that match, newest last")
    .addOption(clientOption())
    .addOption(partnerOption())
    .addOption(
      new Option(
        "--object <KIND:ID>",
        "only of this object, such as collateralReport:17 or verificationBlock:5:PEP"
      ).argParser(objectName)
    )
    .addOption(momentOption("--since <time>", "from this time on"))
    .addOption(limitOption(1_000))
    .addOption(beforeOption)
    .addOption(new Option("--follow", "keep printing new rows, one a line").conflicts("before"))
    .action((options: TailOptions, command: Command) =>
      options.follow === true ? follow(cli, options, command) : tail(cli, options, command)
    )
}

const queryOf = ({ client, partner, object, since, limit }: TailOptions) =>
  given({ client, partner, object, since, limit })

/**
 * Prints the newest rows of a period. `since` alone would select the first rows after that time, so `before` is set to the
 * largest id.
 */
const tail = (cli: Cli, options: TailOptions, command: Command): Promise<void> =>
  cli.call(
    command,
    (api) => api.audit.tail({ query: { ...queryOf(options), before: options.before ?? Number.MAX_SAFE_INTEGER } }),
    tailView
  )

/** Polls for rows after the last id until a signal. */
const follow = (cli: Cli, options: TailOptions, command: Command): Promise<void> =>
  cli.attempt(command, async (globals) => {
    const connection = findConnection(globals, cli.io)
    const { callService } = await import("../OperatorClient.ts")
    let query: ReturnType<typeof queryOf> & { readonly after?: number } = queryOf(options)
    for (;;) {
      const { data } = await callService(connection, (api) => api.audit.tail({ query }))
      for (const entry of data.entries) {
        cli.io.stdout(`${globals.json === true ? JSON.stringify(entry) : cli.line(globals, lineOf(entry))}\n`)
      }
      query = { ...queryOf({ ...options, limit: 1_000 }), after: data.nextAfter }
      if (data.entries.length < 1_000) await pause(pollMillis)
    }
  })

const lineOf = (entry: Entry): RichText =>
  joined(
    [
      time(entry.ts),
      entry.auditId,
      `${entry.role}/${entry.keyLabel}`,
      entry.partnerId === null ? "" : `partner ${entry.partnerId}`,
      entry.clientId === null ? "" : `client ${entry.clientId}`,
      entry.object ?? "",
      entry.action,
      changeText(entry),
      entry.reason ?? ""
    ],
    "  "
  )

/** The audit rows, and, when earlier rows were left out, the option that shows them. */
const tailView = ({ entries, hasMore, nextBefore }: Tail): View =>
  stack(
    entriesView(entries),
    ...(hasMore ? [text(`Earlier rows are left out: more with --before ${nextBefore}, or a higher --limit.`)] : [])
  )

const entriesView = (entries: ReadonlyArray<Entry>): View =>
  table(
    entries,
    {
      id: (row) => row.auditId,
      // Rows of today show only the time of day, which leaves room for the other columns.
      time: (row) => new Moment(row.ts, "brief"),
      // The actor matters more than the change, so on a narrow terminal the change is dropped first.
      by: { cell: (row) => `${row.role}/${row.keyLabel}`, rank: 3.5 },
      partner: { cell: (row) => partnerNamed(row.partnerId), rank: 8 },
      client: { cell: (row) => row.clientId, rank: 7 },
      object: { cell: (row) => row.object, rank: 2 },
      action: { cell: (row) => row.action, rank: 3 },
      change: { cell: changeText, rank: 4 },
      reason: { cell: (row) => row.reason, rank: 6 }
    },
    "no audit rows"
  )
