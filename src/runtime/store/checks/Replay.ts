/** A check of `ledger verify` that reads rows in order, because no SQL sum can express it. */

/** Reads the rows of one check and returns the first violation. */
export interface Replay<Row> {
  readonly take: (row: Row) => string | null
  /** Called after the last row. Returns a violation, or null. */
  readonly end: () => string | null
}

export interface ReplayCheck<Row extends object> {
  readonly name: string
  /** SQL with one row and one column `n`: the number of checked rows. */
  readonly figure: string
  /** SQL with all rows, in the order of the replay. */
  readonly rows: string
  readonly begin: () => Replay<Row>
}
