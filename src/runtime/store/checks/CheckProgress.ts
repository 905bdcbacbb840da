/** Who wants to know how far `ledger verify` is; nobody by default. */
import { Context } from "effect"

export interface CheckedSoFar {
  /** Checks that are done. */
  readonly done: number
  readonly of: number
  /** The one that runs. */
  readonly check: string
}

export const CheckProgress = Context.Reference<(at: CheckedSoFar) => void>(
  "brokerage/runtime/store/checks/CheckProgress",
  { defaultValue: () => () => undefined }
)
