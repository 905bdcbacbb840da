/**
 * Applies inputs to a venue that may fail on some of them. A failing input is refused in the same way at each replay: the venue
 * is made again without it, and for a call a refusal is applied instead, so that its ref is settled.
 */
import { InputFailed, type Venue } from "../core/Venue.ts"
import type { VenueInput } from "../core/VenueInput.ts"

export interface Replayed {
  readonly venue: Venue
  /** A sentence for each failed input. */
  readonly failures: ReadonlyArray<string>
}

/** Applies inputs to the venue from `make`, which must return an equal one each time. */
export const replay = (make: () => Venue, inputs: ReadonlyArray<VenueInput>): Replayed => {
  const instead = new Map<number, VenueInput | null>()
  const failures: Array<string> = []
  for (;;) {
    const venue = make()
    const failed = playAll(venue, inputs, instead)
    if (failed === null) return { venue, failures }
    const { at, input, error } = failed
    instead.set(at, insteadOf(input))
    failures.push(failureOf(input, error))
  }
}

/** The input that every replay applies instead of a failing one: a refusal for a call, null for any other input. */
export const insteadOf = (input: VenueInput): VenueInput | null =>
  input.type === "call" ? { ...input, type: "decline", reason: "the venue can't carry it out" } : null

/** The sentence for the log about a failing input: its kind (for a call its name and ref), and the error. */
export const failureOf = (input: VenueInput, error: InputFailed): string => {
  const name = "name" in input ? `${input.name} ${input.request.ref}` : input.type
  return `The venue can't carry out ${name}: ${error.message}. It is refused.`
}

interface Failed {
  readonly at: number
  readonly input: VenueInput
  readonly error: InputFailed
}

const playAll = (
  venue: Venue,
  inputs: ReadonlyArray<VenueInput>,
  instead: ReadonlyMap<number, VenueInput | null>
): Failed | null => {
  for (const [at, recorded] of inputs.entries()) {
    const replaced = instead.get(at)
    const input = replaced === undefined ? recorded : replaced
    if (input === null) continue
    try {
      venue.apply(input)
    } catch (error) {
      if (error instanceof InputFailed) return { at, input, error }
      throw error
    }
  }
  return null
}
