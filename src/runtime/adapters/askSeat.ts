/** Who holds the seat of a venue's directory, and whether it proves itself by the directory's key (`seatAnswer`). */
import { Effect, Schema } from "effect"
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import { connect } from "node:net"
import { longestSeatText, provedText, SeatAnswer, type SeatHolder } from "../../venue/seatAnswer.ts"

/** "stranger": it answers, and is not the directory's simulator. "silent": it has not answered in time, or has hung up. */
export type Seated = SeatHolder | "nobody" | "stranger" | "silent"

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(SeatAnswer))
/** A simulator that begins answers when it has read its books. Wall ms. */
const patience = 1_000

export const askSeat = (path: string, key: string): Effect.Effect<Seated> =>
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
    // Nobody sits there, or it hangs up: the close that follows says so.
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
  // One that dies, or is full of askers, hangs up without a word.
  return text === "" ? "silent" : "stranger"
}

/** Whether an answer was made with the key, for this number. */
const isProved = (key: string, nonce: string, { proof, ...holder }: typeof SeatAnswer.Type): boolean => {
  const expected = createHmac("sha256", key).update(provedText(nonce, holder)).digest()
  const given = Buffer.from(proof, "hex")
  return given.length === expected.length && timingSafeEqual(given, expected)
}
