/** Finds machines and their states by the names that operators type, in upper or lower case. */
import { type Kind, kinds, machines } from "../../../../machines/registry.ts"
import { closest } from "../../../../machines/shared/closest.ts"
import { accept, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { type Noun, unknownReasons } from "../../../../machines/shared/RefusalReason.ts"

/** The machine of this name; a refusal names the nearest one, or lists all. */
export const kindNamed = (name: string): Verdict<Kind> => oneOf("Machine", "The machines are", name, kinds)

/** The state of this name; a refusal names the nearest one, or lists the states of the machine. */
export const stateNamed = (kind: Kind, name: string): Verdict<string> =>
  oneOf("State", `The states of ${kind} are`, name, Object.keys(machines[kind].machine.root.states))

const oneOf = <N extends string>(noun: Noun, all: string, name: string, known: ReadonlyArray<N>): Verdict<N> => {
  const typed = name.toLowerCase()
  const found = known.find((each) => each.toLowerCase() === typed)
  if (found !== undefined) return accept(found)
  const near = closest(
    typed,
    known.map((each) => each.toLowerCase())
  )
  const begun = typed.length < 3 ? undefined : known.find((each) => each.toLowerCase().startsWith(typed))
  const meant = begun ?? known.find((each) => near.includes(`"${each.toLowerCase()}"`))
  return refuse({
    _tag: "Unknown",
    reason: unknownReasons[noun],
    sentence:
      meant === undefined
        ? `${noun} not found. ${all} ${known.filter((each) => each !== "NEW").join(", ")}.`
        : `${noun} not found; did you mean ${meant}?`
  })
}
