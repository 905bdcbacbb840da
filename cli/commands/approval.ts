/** `brokerage approval …`: grants and refusals by a second operator (operator surface, Four eyes). */
import type { Command } from "commander"
import { approvalStatuses, type ApprovalStatus } from "../../src/machines/operator/Approval.ts"
import type { Cli } from "../Cli.ts"
import { given, idArgument, limitOption, tokenOption } from "../options.ts"
import { aboutApproval } from "../questions.ts"
import { approvalDetailsView, approvalsTable, approvalView, resultView } from "../views/approvals.ts"
import { dryRunIds } from "../views/cellText.ts"
import { stack, text, type View } from "../views/View.ts"

/** The view for a guarded command, which waits for its approval instead of running. */
export const awaitsApproval = (approvalId: number): View =>
  text(
    approvalId >= dryRunIds
      ? "It would wait for a second operator key: brokerage approval grant, with a key other than the one used here."
      : `Waiting for a second operator key: brokerage approval grant ${approvalId}, with a key other than the one used here.`
  )

export const addApprovalCommands = (program: Command, cli: Cli): void => {
  const approval = program.command("approval").description("commands that wait for a second operator key")
  approval
    .command("list")
    .description("the newest requests")
    .addOption(tokenOption("--status <status>", "only in this status", approvalStatuses))
    .addOption(limitOption(500))
    .action((options: { readonly status?: ApprovalStatus; readonly limit?: number }, command: Command) =>
      cli.call(
        command,
        (client) => client.approval.list({ query: given({ status: options.status, limit: options.limit }) }),
        ({ approvals }) => approvalsTable(approvals)
      )
    )
  approval
    .command("show")
    .description("one request: its requester, its command, and the present effects of a grant")
    .addArgument(idArgument("<APPROVALID>", "approval id"))
    .action((approvalId: string, _: object, command: Command) =>
      cli.call(command, (client) => client.approval.show({ params: { approvalId } }), approvalDetailsView)
    )
  approval
    .command("grant")
    .description("let the command run, once, with exactly its arguments")
    .addArgument(idArgument("<APPROVALID>", "approval id"))
    .action((approvalId: string, _: object, command: Command) =>
      cli.call(
        command,
        (client) => client.approval.grant({ params: { approvalId } }),
        ({ command: ran, result }, isDry) =>
          isDry
            ? stack(text(`Granted, ${ran} would run.`), resultView(result))
            : stack(text(`Granted: ${ran} has run.`), resultView(result)),
        {
          about: `approval:${approvalId}`,
          deed: async (client) => approvalView((await client.approval.show({ params: { approvalId } })).data),
          confirm: aboutApproval(approvalId, (it) => `Grant ${it}? Its command runs at once.`)
        }
      )
    )
  approval
    .command("refuse")
    .description("refuse it: the command never runs")
    .addArgument(idArgument("<APPROVALID>", "approval id"))
    .action((approvalId: string, _: object, command: Command) =>
      cli.call(command, (client) => client.approval.refuse({ params: { approvalId } }), approvalView, {
        about: `approval:${approvalId}`
      })
    )
}
