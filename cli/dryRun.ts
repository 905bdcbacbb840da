/**
 * `--dry-run`: runs the command and rolls it back. Every writing command has it; the planned changes are shown below the answer
 * (operator surface).
 */
import { type Command, Option } from "commander"
import { writingCommands } from "../src/http/api/operator/commandTable.ts"
import { cliFailure, exitStatus } from "./CliIo.ts"
import type { Change } from "./views/changes.ts"
import { fields, stack, table, text, type View } from "./views/View.ts"

/** The changes that the service reports for a dry run. */
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

/** Adds the option to every writing command of the tree that does not define the option itself. */
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

/** Whether the answer itself reports that it is a dry run; --json then prints the answer beside the usual form. */
export const isDryRunAnswer = <A>(data: A): data is A & { readonly dryRun: true } =>
  typeof data === "object" && data !== null && (data as { readonly dryRun?: unknown }).dryRun === true

/** The JSON document of a dry run: the command's usual answer, with the planned changes beside it. */
export const dryRunDocument = <A>(answer: A, would: Would) => ({ dryRun: true, answer, would })

/** The effects that a command under four eyes would have if it were granted now, or the refusal that it would get. */
export type Deed =
  | { readonly result: unknown; readonly would: Would; readonly changes: ReadonlyArray<Change> }
  | { readonly refusal: string }

/** The view of a command under four eyes: the command's own view, with the effects of a grant. */
export const grantView = (deed: Deed, view: (result: unknown) => View): View =>
  "refusal" in deed
    ? text(`As things stand it would be refused: ${deed.refusal}`)
    : stack(text("When it is granted:"), dryRunView(view(deed.result), deed.would, "It would write:"))

/** The view of a dry run: the answer, and below it the planned changes under the heading `head`. */
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

/**
 * The failure when the answer to a dry run does not report one: the service at this address does not support dry runs and has
 * run the command.
 */
export const carriedOut = cliFailure(
  exitStatus.refused,
  5000,
  "This service knows no dry runs: the command was carried out. Check the audit."
)
