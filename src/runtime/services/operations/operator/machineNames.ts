/** Machines and their states by the names that operators type, in any case (operator surface, machine inspect and instances). */
import { type Kind, kinds, machines } from "../../../../machines/registry.ts"
import { closest } from "../../../../machines/shared/closest.ts"
import { accept, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import { type Noun, unknownReasons } from "../../../../machines/shared/RefusalReason.ts"

/** The machine of this name; a refusal says the nearest, or all that there are. */
export const kindNamed = (name: string): Verdict<Kind> => oneOf("Machine", "The machines are", name, kinds)

/** The state of this name; a refusal says the nearest, or all that an object of the machine may be in. */
export const stateNamed = (kind: Kind, name: string): Verdict<string> =>
  oneOf("State", `The states of ${kind} are`, name, Object.keys(machines[kind].machine.root.states))

const oneOf = <N extends string>(noun: Noun, all: string, name: string, known: ReadonlyArray<N>): Verdict<N> => {
  const asked = name.toLowerCase()
  const found = known.find((each) => each.toLowerCase() === asked)
  if (found !== undefined) return accept(found)
  const near = closest(
    asked,
    known.map((each) => each.toLowerCase())
  )
  const begun = asked.length < 3 ? undefined : known.find((each) => each.toLowerCase().startsWith(asked))
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
