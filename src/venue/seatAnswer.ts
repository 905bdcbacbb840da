/**
 * Who sits in the seat of a venue's directory, a socket that anybody on the machine could have taken: the asker sends a line
 * with a number used once, and the simulator answers who it is with a proof that it has the directory's key. The key itself
 * never goes to whoever sits there before that.
 */
import { Schema } from "effect"

/** The form of the surface that a simulator serves; a service ends one of another version and starts its own. */
export const seatVersion = 2

const holder = { pid: Schema.Int, url: Schema.String, version: Schema.Int }
const SeatHolder = Schema.Struct(holder)
export type SeatHolder = typeof SeatHolder.Type

/** What the seat answers. `proof`: HMAC-SHA-256 of `provedText` under the directory's key, hexadecimal. */
export const SeatAnswer = Schema.Struct({ ...holder, proof: Schema.String })

/** Characters of a question or an answer at most. */
export const longestSeatText = 4_096

export const provedText = (nonce: string, { pid, url, version }: SeatHolder): string =>
  JSON.stringify([nonce, pid, url, version])
