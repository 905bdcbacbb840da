/** One statement of `ledger verify`. */
export interface SqlCheck {
  readonly name: string
  /** One row, one column `n`: the number of checked rows. */
  readonly figure: string
  /** Rows that violate the rule, with one column `what`. */
  readonly breaks: string
}
