/** A note on the accounts whose money the comparison with the venue left out (A2-103). */
import { text, type View } from "./View.ts"

/** The note; empty when every account was compared. */
export const notCompared = (withoutMoney: number): ReadonlyArray<View> =>
  withoutMoney === 0
    ? []
    : [text(`The money of ${withoutMoney} accounts is not compared: they are older than the venue's records of it.`)]
