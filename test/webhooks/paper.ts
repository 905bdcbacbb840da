/** Collects the output of a program, and waits for a line of it, so that tests never sleep for output. */
import { Effect } from "effect"

export const paper = () => {
  let text = ""
  let waiting: { readonly pattern: RegExp; readonly nth: number; readonly resolve: (line: string) => void } | null =
    null
  const look = () => {
    const complete = text.split("\n").slice(0, -1)
    const line = complete.filter((each) => waiting?.pattern.test(each))[(waiting?.nth ?? 1) - 1]
    if (line !== undefined) waiting?.resolve(line)
  }
  return {
    text: () => text,
    print: (more: string): void => {
      text += more
      look()
    },
    /** The nth matching line, past lines included. Only one wait at a time. */
    line: (pattern: RegExp, nth = 1): Effect.Effect<string> =>
      Effect.callback<string>((resume) => {
        waiting = { pattern, nth, resolve: (line) => resume(Effect.succeed(line)) }
        look()
      })
  }
}
