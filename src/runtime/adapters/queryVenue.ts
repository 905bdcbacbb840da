/** One request to a venue, for a service whose venue port does not exist yet: bounded in time, response unchecked. */
import { Effect, Redacted, Schema } from "effect"
import { request as plainRequest } from "node:http"
import { request as tlsRequest } from "node:https"
import type { VenueConnection } from "../ports/VenueConnection.ts"

/** The venue did not respond correctly. */
export class VenueAway extends Schema.TaggedError<VenueAway>()("VenueAway", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

/** The longest response that is read, bytes. */
const longestAnswer = 1024 * 1024

/** Sends one request and returns the JSON of the response. Fails for any status but 200. With a body the request is a POST. */
export const queryVenue = (
  connection: VenueConnection,
  path: string,
  options: { readonly body?: unknown; readonly timeoutMillis: number }
): Effect.Effect<unknown, VenueAway> =>
  Effect.callback((resume) => {
    const { url, key, ca } = connection
    const away = (reason: string) => resume(Effect.fail(new VenueAway({ reason })))
    const body = options.body === undefined ? null : JSON.stringify(options.body)
    const send = url.startsWith("https:") ? tlsRequest : plainRequest
    const outgoing = send(new URL(path, url), {
      method: body === null ? "GET" : "POST",
      agent: false,
      headers: {
        authorization: `Bearer ${Redacted.value(key)}`,
        ...(body === null ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
      },
      ...(ca === null ? {} : { ca })
    })
    const cut = setTimeout(() => outgoing.destroy(new Error("no answer in time")), options.timeoutMillis)
    outgoing.on("error", (error) => {
      clearTimeout(cut)
      away(error.message)
    })
    outgoing.on("response", (response) => {
      const pieces: Array<Buffer> = []
      let size = 0
      response.on("data", (piece: Buffer) => {
        size += piece.length
        if (size > longestAnswer) outgoing.destroy(new Error("the answer is too long"))
        else pieces.push(piece)
      })
      response.on("end", () => {
        clearTimeout(cut)
        const text = Buffer.concat(pieces).toString("utf8")
        if (response.statusCode !== 200) return away(`status ${response.statusCode}`)
        try {
          resume(Effect.succeed(JSON.parse(text)))
        } catch {
          away("the answer is not JSON")
        }
      })
    })
    outgoing.end(body ?? undefined)
    return Effect.sync(() => {
      clearTimeout(cut)
      outgoing.destroy()
    })
  })
