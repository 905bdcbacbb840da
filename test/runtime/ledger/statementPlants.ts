/** Contradictory statements, planted in the database: for each, the check of `ledger verify` that finds it. */

const changed = (from: string, to: string): readonly [string, string] => {
  const [one, other] = [`'${from}'`, `'${to}'`]
  return [
    `UPDATE statements SET context = replace(context::text, ${one}, ${other})::json`,
    `UPDATE statements SET context = replace(context::text, ${other}, ${one})::json`
  ]
}

/** The plants by the name of the check that finds them. */
export const statementPlants: Readonly<Record<string, readonly [plant: string, undo: string]>> = {
  "every statement's model is stored completely, with the hash and row count that it shows": [
    "UPDATE statement_models SET pieces = pieces + 1",
    "UPDATE statement_models SET pieces = pieces - 1"
  ],
  "every period's statement versions form a claimed chain without gaps, and only the last is live": [
    "UPDATE statements SET state = 'SUPERSEDED'",
    "UPDATE statements SET state = 'GENERATED'"
  ],
  "every statement of postings names the ledger seal that covers its last posting": changed(
    String.raw`\"ledgerSeal\":{\"hash\":\"`,
    String.raw`\"ledgerSeal\":{\"hash\":\"-`
  ),
  "every equity of a day belongs to its client's partner": [
    "INSERT INTO daily_equities (day, client_id, partner_id, equity) VALUES (86400000, 1, 999, 0)",
    "DELETE FROM daily_equities WHERE partner_id = 999"
  ],
  "every midnight equity exists and equals the replay of earlier bookings at the stored marks": [
    `INSERT INTO daily_equities SELECT 8640000000000, client_id, partner_id, cash + 1 FROM balances WHERE currency = 'USDC' AND client_id = 1`,
    "DELETE FROM daily_equities WHERE day = 8640000000000"
  ],
  "every statement model has its stored hash and size, and its account agrees with the postings": [
    "UPDATE statement_models SET size = size + 1",
    "UPDATE statement_models SET size = size - 1"
  ]
}

/** Further plants of the same checks: the beginning of the check's name, the plant, and its removal. */
export const moreStatementPlants: ReadonlyArray<readonly [check: string, what: string, plant: string, undo: string]> = [
  [
    "every statement's model is",
    "a piece is missing",
    "CREATE TABLE kept_pieces AS SELECT * FROM statement_pieces WHERE number = 1; DELETE FROM statement_pieces WHERE number = 1",
    "INSERT INTO statement_pieces SELECT * FROM kept_pieces; DROP TABLE kept_pieces"
  ],
  [
    "every statement's model is",
    "the row's hash is another than the model's",
    ...changed(String.raw`"sha256":"`, String.raw`"sha256":"-`)
  ],
  [
    "every midnight equity exists",
    "none is kept of an account that held money",
    `INSERT INTO statement_jobs (id, name, period_from, period_to, due_at, cursor, clients, made, started_at, ended_at)
       VALUES (999999999, 'EQUITIES', 8640000000000, 8640000000000, 8640000000000, 0, 0, 0, 8640000000000, 8640000000000)`,
    "DELETE FROM statement_jobs WHERE id = 999999999"
  ],
  [
    "every period's statement versions",
    "a second live version of the same period",
    `INSERT INTO statements SELECT 999999999, partner_id, client_id, state, version, context, kind, period_from, period_to, number, model_id, generated_at
       FROM statements LIMIT 1`,
    "DELETE FROM statements WHERE id = 999999999"
  ],
  [
    "every period's statement versions",
    "a version that nothing claims",
    "UPDATE claims SET name = 'x' || name WHERE name LIKE 'statement:%'",
    "UPDATE claims SET name = substr(name, 2) WHERE name LIKE 'xstatement:%'"
  ],
  [
    "every period's statement versions",
    "a version that was skipped",
    "UPDATE statements SET number = number + 1",
    "UPDATE statements SET number = number - 1"
  ],
  [
    "every statement model has",
    "a posting of its period is another one now",
    "UPDATE postings SET amount = amount + 1 WHERE posting_id = (SELECT min(posting_id) FROM postings WHERE client_id = 1)",
    "UPDATE postings SET amount = amount - 1 WHERE posting_id = (SELECT min(posting_id) FROM postings WHERE client_id = 1)"
  ],
  [
    "every statement model has",
    "a piece is another one's",
    `CREATE TABLE kept_pieces AS SELECT * FROM statement_pieces WHERE number < 2; UPDATE statement_pieces SET content =
       (SELECT k.content FROM kept_pieces k WHERE k.number = 1 - statement_pieces.number) WHERE number < 2`,
    "UPDATE statement_pieces SET content = (SELECT k.content FROM kept_pieces k WHERE k.number = statement_pieces.number) WHERE number < 2; DROP TABLE kept_pieces"
  ]
]
