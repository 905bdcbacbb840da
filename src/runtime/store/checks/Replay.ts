/** A check of `ledger verify` that reads rows in order, because no SQL sum can express it. */

/** Reads the rows of one check and returns the first violation. */
export interface Replay<Row> {
  readonly take: (row: Row) => string | null
  /** After the last row. */
  readonly end: () => string | null
}

export interface ReplayCheck<Row extends object> {
  readonly name: string
  /** One row, one column `n`: the number of checked rows. */
  readonly figure: string
  /** All rows, in the order of the replay. */
  readonly rows: string
  readonly begin: () => Replay<Row>
}
