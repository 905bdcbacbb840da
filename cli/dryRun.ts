/**
 * `--dry-run`: the command is run and nothing is written (operator surface). Every command that changes something has it;
 * what it would have written is shown below its answer.
 */
import { type Command, Option } from "commander"
import { writingCommands } from "../src/http/api/operator/commandTable.ts"
import { cliFailure, exitStatus } from "./CliIo.ts"
import type { Change } from "./views/changes.ts"
import { fields, stack, table, text, type View } from "./views/View.ts"

/** What the service says that it would have written. */
export interface Would {
  readonly rows: Readonly<Record<string, number>>
  readonly events: ReadonlyArray<{ readonly event: string; readonly clientId: number | null }>
  readonly postings: ReadonlyArray<{
    readonly account: string
    readonly clientId: number | null
    readonly currency: string
    readonly kind: string
    readonly amount: string
  }>
}

/** Gives every leaf of the tree that is a writing command the option, unless it has one of its own. */
export const addDryRunOptions = (program: Command): void => {
  const visit = (command: Command, path: ReadonlyArray<string>): void => {
    if (command.commands.length === 0 && Object.hasOwn(writingCommands, path.slice(-2).join(" "))) addOption(command)
    for (const child of command.commands) visit(child, [...path, child.name()])
  }
  visit(program, [])
}

const addOption = (command: Command): void => {
  if (command.options.some(({ long }) => long === "--dry-run")) return
  command.addOption(new Option("--dry-run", "run the command without writing anything, and show what it would write"))
}

/** A command that answers a dry run in its own words says so in its answer; --json prints these beside the usual form. */
export const speaksForItself = <A>(data: A): data is A & { readonly dryRun: true } =>
  typeof data === "object" && data !== null && (data as { readonly dryRun?: unknown }).dryRun === true

/** The answer of a dry run, as --json prints it. */
export const dryRunDocument = <A>(answer: A, would: Would) => ({ dryRun: true, answer, would })

/** What a command under four eyes does when it is granted, as things stand; or why it would be refused. */
export type Deed =
  | { readonly result: unknown; readonly would: Would; readonly changes: ReadonlyArray<Change> }
  | { readonly refusal: string }

/** When it is granted: the command's own view and its effects. */
export const grantView = (deed: Deed, view: (result: unknown) => View): View =>
  "refusal" in deed
    ? text(`As things stand it would be refused: ${deed.refusal}`)
    : stack(text("When it is granted:"), dryRunView(view(deed.result), deed.would, "It would write:"))

/** The answer's own view and what would have been written. */
export const dryRunView = (answer: View, { rows, events, postings }: Would, head: string): View =>
  stack(
    answer,
    text(""),
    text(Object.keys(rows).length === 0 ? "Nothing would be written." : head),
    fields(rows),
    ...(events.length === 0
      ? []
      : [table(events, { event: (row) => row.event, client: (row) => row.clientId }, "no events")]),
    ...(postings.length === 0
      ? []
      : [
          table(
            postings,
            {
              account: (row) => row.account,
              client: (row) => row.clientId,
              kind: (row) => row.kind,
              amount: (row) => `${row.amount} ${row.currency}`
            },
            "no postings"
          )
        ])
  )

/** An answer without the word of a dry run: the service behind the address does not know them. */
export const carriedOut = cliFailure(
  exitStatus.refused,
  5000,
  "This service knows no dry runs: the command was carried out. Check the audit."
)
