/**
 * Queries the process that holds the seat (the socket) of a venue directory, and verifies its proof with the directory's key
 * (`seatAnswer`).
 */
import { Effect, Schema } from "effect"
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import { connect } from "node:net"
import { longestSeatText, provedText, SeatAnswer, type SeatHolder } from "../../venue/seatAnswer.ts"

/**
 * "stranger": it responds, but is not the directory's simulator. "silent": it did not respond in time, or closed the connection.
 */
export type Seated = SeatHolder | "nobody" | "stranger" | "silent"

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(SeatAnswer))
/** The timeout, wall ms: a starting simulator responds only after it has read its books. */
const patience = 1_000

export const requestSeat = (path: string, key: string): Effect.Effect<Seated> =>
  Effect.callback((resume) => {
    const nonce = randomBytes(16).toString("hex")
    let text = ""
    let isTaken = false
    const socket = connect(path, () => {
      isTaken = true
      socket.write(`${nonce}\n`)
    })
    const cut = setTimeout(() => socket.destroy(), patience)
    socket.on("data", (piece: Buffer) => {
      text += piece.toString("utf8")
      if (text.length > longestSeatText) socket.destroy()
    })
    // A refused connection means that the seat is free. The close event that follows gives the result.
    socket.on("error", () => undefined)
    socket.on("close", () => {
      clearTimeout(cut)
      resume(Effect.succeed(isTaken ? judged(text, key, nonce) : "nobody"))
    })
    return Effect.sync(() => {
      clearTimeout(cut)
      socket.destroy()
    })
  })

const judged = (text: string, key: string, nonce: string): Seated => {
  const answer = decode(text)
  if (answer._tag === "Some" && isProved(key, nonce, answer.value)) return answer.value
  // A holder that dies, or has too many connections, closes without a response.
  return text === "" ? "silent" : "stranger"
}

/** True if a response was made with the key, for this nonce. */
const isProved = (key: string, nonce: string, { proof, ...holder }: typeof SeatAnswer.Type): boolean => {
  const expected = createHmac("sha256", key).update(provedText(nonce, holder)).digest()
  const given = Buffer.from(proof, "hex")
  return given.length === expected.length && timingSafeEqual(given, expected)
}
