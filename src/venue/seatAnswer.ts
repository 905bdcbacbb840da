/**
 * Identifies the process behind the socket of a venue's directory, which any process on the machine could have opened. The
 * client sends a line with a nonce, and the simulator answers with its identity and a proof that it has the directory's key.
 * The key itself is never sent before that.
 */
import { Schema } from "effect"

/** The version of the simulator's API; a service stops a simulator of another version and starts its own. */
export const seatVersion = 3

const holder = { pid: Schema.Int, url: Schema.String, version: Schema.Int }
const SeatHolder = Schema.Struct(holder)
export type SeatHolder = typeof SeatHolder.Type

/** The simulator's answer. `proof`: HMAC-SHA-256 of `provedText` under the directory's key, hexadecimal. */
export const SeatAnswer = Schema.Struct({ ...holder, proof: Schema.String })

/** The most characters of a request or an answer. */
export const longestSeatText = 4_096

export const provedText = (nonce: string, { pid, url, version }: SeatHolder): string =>
  JSON.stringify([nonce, pid, url, version])
