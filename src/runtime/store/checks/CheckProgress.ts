/** An observer of the progress of `ledger verify`; none by default. */
import { Context } from "effect"

export interface CheckedSoFar {
  /** The number of completed checks. */
  readonly done: number
  readonly of: number
  /** The running check. */
  readonly check: string
}

export const CheckProgress = Context.Reference<(at: CheckedSoFar) => void>(
  "brokerage/runtime/store/checks/CheckProgress",
  { defaultValue: () => () => undefined }
)
