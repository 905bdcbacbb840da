/** Accounts whose money the comparison with the venue had to leave out (A2-103). */
import { text, type View } from "./View.ts"

/** Nothing when there are none. */
export const notCompared = (withoutMoney: number): ReadonlyArray<View> =>
  withoutMoney === 0
    ? []
    : [text(`The money of ${withoutMoney} accounts is not compared: they are older than what the venue keeps of it.`)]
