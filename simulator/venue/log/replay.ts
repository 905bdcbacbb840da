/**
 * Inputs played on a venue that may not be able to play every one of them. One that fails is a refusal, the same whenever it is
 * played: the venue is made again without it, and of a call its refusal is played instead, so that its ref is settled.
 */
import { InputFailed, type Venue } from "../core/Venue.ts"
import type { VenueInput } from "../core/VenueInput.ts"

export interface Replayed {
  readonly venue: Venue
  /** Of each input that failed, in words. */
  readonly failures: ReadonlyArray<string>
}

/** Plays inputs on the venue that `make` makes, each time the same one. */
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

/** What is played instead of an input that fails; null: nothing. */
export const insteadOf = (input: VenueInput): VenueInput | null =>
  input.type === "call" ? { ...input, type: "decline", reason: "the venue can't carry it out" } : null

/** What is said of an input that fails. */
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
  for (const [at, asked] of inputs.entries()) {
    const replaced = instead.get(at)
    const input = replaced === undefined ? asked : replaced
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
