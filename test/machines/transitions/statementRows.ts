/** The transitions of a statement as literal rows (D20). */
import { rowsOf, type TransitionRow } from "./TransitionRow.ts"
import type { StatementEvent } from "../../../src/machines/statement/Statement.ts"
import { statementInput } from "../../../src/machines/statement/statementSamples.ts"

const generate: StatementEvent = { type: "GENERATE", at: 5, by: "FINANCE" }
const supersede: StatementEvent = { type: "SUPERSEDE", supersededBy: 7, reason: "a rule was wrong" }
const statement = rowsOf<StatementEvent>(statementInput)

export const statementRows: ReadonlyArray<TransitionRow> = [
  statement(
    "D20: none, generated",
    "NEW",
    [],
    generate,
    "GENERATED",
    ["notify STATEMENT_READY", "audit statement.generate"],
    { generatedAt: 5, generatedBy: "FINANCE", supersededBy: null }
  ),
  statement("D20: nothing is superseded before it is there", "NEW", [], supersede, "refused"),
  statement("D20: GENERATED, a later version", "GENERATED", [generate], supersede, "SUPERSEDED", [
    "audit statement.supersede"
  ]),
  statement("D20: GENERATED, generated again", "GENERATED", [generate], generate, "refused"),
  statement("D20: SUPERSEDED is terminal", "SUPERSEDED", [generate, supersede], supersede, "refused")
]
