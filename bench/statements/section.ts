/** The statements part of the report. */
import { latencyRow, spread, table, whole } from "../markdown.ts"
import { type FileFindings, steps } from "./fileRounds.ts"
import { statementGoals } from "./goals.ts"
import type { NightFindings } from "./nightRounds.ts"
import type { StatementFindings } from "./statementRounds.ts"

export const statementsSection = (findings: StatementFindings): string =>
  [
    table(
      ["goal", "found", ""],
      statementGoals(findings).map(({ sentence, figure, reached }) => [
        sentence,
        figure,
        reached ? "reached" : "MISSED"
      ])
    ),
    ...(findings.files === null ? [] : fileSection(findings.files)),
    ...(findings.night === null ? [] : nightSection(findings.night)),
    ...(findings.nights === null ? [] : nightSection(findings.nights))
  ].join("\n\n")

const fileSection = ({ postings, of, beside, without }: FileFindings): ReadonlyArray<string> => [
  `### ACCOUNT of ${whole(postings)} postings`,
  table(
    ["step", "rows a second", "MB added", "bytes"],
    steps.map((step) => [step, spread(of[step].rate, whole), whole(of[step].memory), whole(of[step].bytes)])
  ),
  table(
    ["another partner's callers", "reads p50, p99, longest ms", "reports p50, p99, longest ms"],
    [latencyRow("beside four builds with their PDFs", beside), latencyRow("without", without)]
  ),
  "A model is made and stored, a file is made of what is stored. Memory is the process's at its peak, more than after it had made a small statement with its files, each step in a process that has just begun."
]

const nightSection = ({
  clients,
  each,
  seconds,
  rate,
  program,
  database,
  beside,
  plain
}: NightFindings): ReadonlyArray<string> => [
  `### A night of ${whole(clients)} clients with ${each} executions each`,
  table(
    ["statements a second", "", "service is", "program us", "database us"],
    [
      ["service, its callers beside it", whole(rate), "", whole(program), whole(database)],
      ...(plain === null
        ? []
        : [
            [
              `a loop over clients, ${plain.concurrency} connections`,
              whole(plain.rate),
              `${(rate / Math.max(1e-9, plain.rate)).toFixed(2)} x`,
              "",
              ""
            ]
          ])
    ]
  ),
  table(
    ["another partner's callers", "reads p50, p99, longest ms", "reports p50, p99, longest ms"],
    [latencyRow("beside the night", beside), ...(plain === null ? [] : [latencyRow("beside the loop", plain.beside)])]
  ),
  `From the moment at which the clock was moved past the night until the last statement was stored: ${seconds.toFixed(1)} s, with whatever else a night brings. Each client has one statement, and all executions are in them.`
]
