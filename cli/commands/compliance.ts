/** `brokerage kyc …`, `case …` and `screening …`: compliance (operator surface, Back office). */
import type { Command } from "commander"
import { watchLists } from "../../src/http/api/operator/operatorTokens.ts"
import type { Cli } from "../Cli.ts"
import { beforeOption, given, limitOption, required, requiredToken } from "../options.ts"
import { fields, stack, table, text, time } from "../views/View.ts"
import { clientArgument, clientMeaning, clientView } from "./client.ts"

interface PageOptions {
  readonly limit?: number
  readonly before?: number
}

export const addComplianceCommands = (program: Command, cli: Cli): void => {
  addKycCommands(program, cli)
  addCaseCommands(program, cli)
  addScreeningCommands(program, cli)
}

const addKycCommands = (program: Command, cli: Cli): void => {
  const kyc = program.command("kyc").description("compliance decisions on a client's KYC")
  kyc
    .command("clear")
    .description("clear the client's open cases; the grant runs again")
    .argument(clientArgument, clientMeaning)
    .option("--note <text>", "what was found; kept in the case")
    .action((c: string, { note }: { readonly note?: string }, command: Command) =>
      cli.call(command, (api) => api.kyc.clear({ params: { client: c }, payload: given({ note }) }), clientView)
    )
  kyc
    .command("reject")
    .description("reject reliance on the client's KYC package")
    .argument(clientArgument, clientMeaning)
    .addOption(required("--reason <text>", "why; the partner reads it"))
    .action((c: string, { reason }: { readonly reason: string }, command: Command) =>
      cli.call(command, (api) => api.kyc.reject({ params: { client: c }, payload: { reason } }), clientView, {
        confirm: `Reject reliance on client ${c}? Its level falls to NONE and the partner is told.`
      })
    )
}

const addCaseCommands = (program: Command, cli: Cli): void => {
  const cases = program.command("case").description("compliance cases")
  cases
    .command("list")
    .description("cases, newest first")
    .option("--open", "only open ones")
    .addOption(limitOption(500))
    .addOption(beforeOption)
    .action(({ open, limit, before }: PageOptions & { readonly open?: boolean }, command: Command) =>
      cli.call(
        command,
        (api) =>
          api.case.list({ query: given({ open: open === true ? ("true" as const) : undefined, limit, before }) }),
        (data) =>
          stack(
            table(
              data.cases,
              {
                id: (row) => row.caseId,
                client: (row) => row.clientUid,
                partner: (row) => row.partnerId,
                reason: (row) => row.reason,
                status: (row) => row.status,
                opened: (row) => time(row.openedAt),
                closed: (row) => time(row.closedAt)
              },
              "no cases"
            ),
            ...(data.hasMore ? [text(`More with --before ${data.nextBefore}.`)] : [])
          )
      )
    )
  cases
    .command("show")
    .description("one case with what compliance needs to decide it")
    .argument("<CASEID>", "case id")
    .action((caseId: string, _: object, command: Command) =>
      cli.call(
        command,
        (api) => api.case.show({ params: { caseId } }),
        ({ details, ...rest }) => stack(fields(rest), text(""), fields(details as object))
      )
    )
}

interface EntryOptions {
  readonly name: string
  readonly dob?: string
  readonly country?: string
  readonly list: (typeof watchLists)[number]
}

const addScreeningCommands = (program: Command, cli: Cli): void => {
  const screening = program.command("screening").description("the service's own watch list")
  screening
    .command("add")
    .description("add a person; onboarding is screened against it at once")
    .addOption(required("--name <name>", "full name"))
    .option("--dob <date>", "date of birth, YYYY-MM-DD")
    .option("--country <CC>", "ISO 3166-1 alpha-2")
    .addOption(requiredToken("--list <list>", "which list", watchLists))
    .action(({ name, dob, country, list }: EntryOptions, command: Command) =>
      cli.call(command, (api) => api.screening.add({ payload: given({ name, dob, country, list }) }), fields)
    )
  screening
    .command("list")
    .description("live entries, newest first")
    .addOption(limitOption(5_000))
    .addOption(beforeOption)
    .action(({ limit, before }: PageOptions, command: Command) =>
      cli.call(
        command,
        (api) => api.screening.list({ query: given({ limit, before }) }),
        ({ entries, hasMore, nextBefore }) =>
          stack(
            table(
              entries,
              {
                id: (row) => row.entryId,
                list: (row) => row.list,
                name: (row) => row.name,
                dob: (row) => row.dob,
                country: (row) => row.country,
                source: (row) => row.source,
                added: (row) => time(row.addedAt)
              },
              "no entries"
            ),
            ...(hasMore ? [text(`More with --before ${nextBefore}.`)] : [])
          )
      )
    )
  screening
    .command("remove")
    .description("take an entry off the list")
    .argument("<ID>", "entry id")
    .action((entryId: string, _: object, command: Command) =>
      cli.call(command, (api) => api.screening.remove({ params: { entryId } }), fields, {
        confirm: `Take entry ${entryId} off the watch list?`
      })
    )
}
