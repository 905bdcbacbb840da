/**
 * Who sits in the seat of a venue's directory, a socket that anybody on the machine could have taken: the asker sends a line
 * with a number used once, and the simulator answers who it is with a proof that it has the directory's key. The key itself
 * never goes to whoever sits there before that.
 */
import { Schema } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"

/** The form of the surface that a simulator serves; a service ends one of another version and starts its own. */
export const seatVersion = 1

export const SeatHolder = Schema.Struct({ pid: Schema.Int, url: Schema.String, version: Schema.Int })
export type SeatHolder = typeof SeatHolder.Type

/** What the seat answers. */
export const SeatAnswer = Schema.Struct({ ...SeatHolder.fields, proof: Schema.String })

/** Characters of a question or an answer at most. */
export const longestSeatText = 4_096

/** Hexadecimal, over the asker's number and everything that is said. */
export const seatProof = (key: string, nonce: string, { pid, url, version }: SeatHolder): string =>
  createHmac("sha256", key)
    .update(JSON.stringify([nonce, pid, url, version]))
    .digest("hex")

/** Whether an answer was made with the key, for this number. */
export const isProved = (key: string, nonce: string, { proof, ...holder }: typeof SeatAnswer.Type): boolean => {
  const [given, expected] = [proof, seatProof(key, nonce, holder)].map((text) => Buffer.from(text))
  return (
    given !== undefined &&
    expected !== undefined &&
    given.length === expected.length &&
    timingSafeEqual(given, expected)
  )
}
