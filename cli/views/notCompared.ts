/** A note on the accounts whose money the comparison with the venue left out (A2-103). */
import { text, type View } from "./View.ts"
import { plural } from "../../src/machines/shared/Text.ts"

/** The note; empty when every account was compared. */
export const notCompared = (withoutMoney: number): ReadonlyArray<View> =>
  withoutMoney === 0
    ? []
    : [
        text(
          `The money of ${plural(withoutMoney, "account")} is not compared: the venue's records do not reach back so far.`
        )
      ]
