/** `brokerage case …`, and `kyc …` with it: commands for compliance (operator surface, Back office). */
import type { Command } from "commander"
import type { Cli } from "../Cli.ts"
import { beforeOption, clientOption, given, idArgument, limitOption } from "../options.ts"
import { type Candidate, candidatesTable, type Entry } from "../views/candidates.ts"
import { fields, page, partnerNamed, stack, table, text, time, type View } from "../views/View.ts"
import { addKycCommands } from "./kyc.ts"

interface PageOptions {
  readonly limit?: number
  readonly before?: number
}

interface CaseQuery extends PageOptions {
  readonly open?: boolean
  readonly client?: string
}

export const addComplianceCommands = (program: Command, cli: Cli): void => {
  addKycCommands(program, cli)
  addCaseCommands(program, cli)
}

interface CaseDetails {
  readonly candidates?: ReadonlyArray<Candidate>
}

/** The details of a case: its plain facts as lines, then its screening candidates as a table. */
const detailsView = ({ candidates = [], ...rest }: CaseDetails, entries: ReadonlyArray<Entry>): View =>
  stack(fields(rest), text(""), candidatesTable(candidates, entries))

const addCaseCommands = (program: Command, cli: Cli): void => {
  const cases = program.command("case").description("compliance cases")
  cases
    .command("list")
    .description("cases, newest first")
    .option("--open", "only open ones")
    .addOption(clientOption())
    .addOption(limitOption(500))
    .addOption(beforeOption)
    .action(({ open, ...query }: CaseQuery, command: Command) =>
      cli.call(
        command,
        (api) => api.case.list({ query: given({ open: open === true ? ("true" as const) : undefined, ...query }) }),
        (data) =>
          page(
            table(
              data.cases,
              {
                id: (row) => row.caseId,
                client: (row) => row.clientUid,
                partner: (row) => partnerNamed(row.partnerId),
                reason: (row) => row.reason,
                status: (row) => row.status,
                opened: (row) => time(row.openedAt),
                closed: (row) => time(row.closedAt)
              },
              "no cases"
            ),
            data
          )
      )
    )
  cases
    .command("show")
    .description("one case, with everything that its decision needs")
    .addArgument(idArgument("<CASEID>", "case id"))
    .action((caseId: string, _: object, command: Command) =>
      cli.call(
        command,
        (api) => api.case.show({ params: { caseId } }),
        ({ details, entries, ...rest }) => stack(fields(rest), text(""), detailsView(details as CaseDetails, entries)),
        { decided: (data) => `case:${data.caseId}` }
      )
    )
}
