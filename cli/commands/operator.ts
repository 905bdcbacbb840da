/** `brokerage operator …`: operator keys and their roles (operator surface, Back office). */
import type { Command } from "commander"
import { type OperatorRole, operatorRoles } from "../../src/http/api/operator/operatorTokens.ts"
import type { Cli } from "../Cli.ts"
import { given, idArgument, required, requiredToken } from "../options.ts"
import { issuedKeyView } from "../views/issuedKey.ts"
import { fields, table, time } from "../views/View.ts"

export const addOperatorCommands = (program: Command, cli: Cli): void => {
  const operator = program.command("operator").description("operator keys")
  operator
    .command("create")
    .description("create an operator key; it is shown only once")
    .addOption(required("--label <text>", "the owner of the key; kept in the audit"))
    .addOption(requiredToken("--role <role>", "the permissions of the key", operatorRoles))
    .action(({ label, role }: { readonly label: string; readonly role: OperatorRole }, command: Command) =>
      cli.call(command, (client) => client.operator.create({ payload: { label, role } }), issuedKeyView)
    )
  operator
    .command("list")
    .description("operator keys, without the keys themselves")
    .action((_: object, command: Command) =>
      cli.call(
        command,
        (client) => client.operator.list(),
        ({ operators }) =>
          table(
            operators,
            {
              id: (row) => row.operatorId,
              prefix: (row) => row.prefix,
              label: (row) => row.label,
              role: (row) => row.role,
              status: (row) => row.status,
              created: (row) => time(row.createdAt)
            },
            "no operator keys"
          )
      )
    )
  operator
    .command("revoke")
    .description("revoke an operator key for good")
    .addArgument(idArgument("<ID>", "operator id"))
    .option("--reason <text>", "why; kept in the audit")
    .action((operatorId: string, options: { readonly reason?: string }, command: Command) =>
      cli.call(
        command,
        (client) => client.operator.revoke({ params: { operatorId }, payload: given({ reason: options.reason }) }),
        fields,
        { confirm: `Revoke operator key ${operatorId} for good?` }
      )
    )
}
