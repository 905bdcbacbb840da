/** `brokerage approval …`: the second pair of eyes (operator surface, Four eyes). */
import type { Command } from "commander"
import { approvalStatuses, type ApprovalStatus } from "../../src/machines/operator/Approval.ts"
import type { Cli } from "../Cli.ts"
import type { Globals } from "../CliIo.ts"
import { given, limitOption, tokenOption } from "../options.ts"
import { issuedKeyView, type IssuedKey } from "../views/issuedKey.ts"
import { fields, stack, table, text, time, type View } from "../views/View.ts"

/** What a guarded command shows instead of its result. */
export const awaitsApproval = (approvalId: number): View =>
  text(
    `Waiting for a second operator key: brokerage approval grant ${approvalId}, with a key other than the one used here.`
  )

/** A command answers an object; that of a key shows it this once. */
const resultView = (result: unknown): View => {
  const answer = result as object
  return "key" in answer ? issuedKeyView(answer as IssuedKey) : fields(answer)
}

export const addApprovalCommands = (program: Command, cli: Cli): void => {
  const approval = program.command("approval").description("commands that wait for a second operator key")
  approval
    .command("list")
    .description("the newest requests")
    .addOption(tokenOption("--status <status>", "only these", approvalStatuses))
    .addOption(limitOption(500))
    .action((options: { readonly status?: ApprovalStatus; readonly limit?: number }, command: Command) =>
      cli.call(
        command,
        (client) => client.approval.list({ query: given({ status: options.status, limit: options.limit }) }),
        ({ approvals }) =>
          table(
            approvals,
            {
              id: (row) => row.approvalId,
              command: (row) => row.command,
              arguments: (row) => JSON.stringify(row.args),
              status: (row) => (row.outcome === null ? row.status : `${row.status}, ${row.outcome}`),
              by: (row) => row.requestedBy,
              requested: (row) => time(row.requestedAt),
              expires: (row) => time(row.expiresAt)
            },
            "no approvals"
          )
      )
    )
  approval
    .command("grant")
    .description("let the command run, once, with exactly its arguments")
    .argument("<APPROVALID>", "approval id")
    .action((approvalId: string, _: object, command: Command) =>
      cli.call(
        command,
        (client) => client.approval.grant({ params: { approvalId } }),
        ({ command: ran, result }) =>
          command.optsWithGlobals<Globals>().dryRun === true
            ? stack(text(`Granted, ${ran} would run.`), resultView(result))
            : stack(text(`Granted: ${ran} has run.`), resultView(result)),
        { confirm: `Grant approval ${approvalId}? Its command runs at once.` }
      )
    )
  approval
    .command("refuse")
    .description("refuse it: the command never runs")
    .argument("<APPROVALID>", "approval id")
    .action((approvalId: string, _: object, command: Command) =>
      cli.call(command, (client) => client.approval.refuse({ params: { approvalId } }), fields)
    )
}
