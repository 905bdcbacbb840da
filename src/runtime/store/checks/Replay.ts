/** A check of `ledger verify` that goes through rows in their order, because no sum can say it. */

/** Goes through the rows of one check; answers what breaks the rule, the first time that something does. */
export interface Replay<Row> {
  readonly take: (row: Row) => string | null
  /** After the last row. */
  readonly end: () => string | null
}

export interface ReplayCheck<Row extends object> {
  readonly name: string
  /** One row, one column `n`: how much is looked at. */
  readonly figure: string
  /** All rows, in the order in which they are gone through. */
  readonly rows: string
  readonly begin: () => Replay<Row>
}
