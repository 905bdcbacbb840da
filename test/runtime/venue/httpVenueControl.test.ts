/**
 * The venue's controls over HTTP, against addresses that are no simulator, accept no key, disconnect or do not exist:
 * the error states whether the command was certainly not executed (operator surface, sim venue).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { layerHttpVenueControl } from "../../../src/runtime/adapters/HttpVenueControl.ts"
import { VenueControl, type VenueControlError } from "../../../src/runtime/ports/VenueControl.ts"
import { connectionTo, listening, stopListening } from "../../support/hostileServer.ts"

const answering = (status: number, body: string): Promise<string> =>
  listening((_, response) => response.writeHead(status, { "content-type": "application/json" }).end(body))

/** The reason why a read and a command get no answer from an address. */
const failures = (url: string) =>
  Effect.gen(function* () {
    const control = yield* VenueControl
    const textOf = <A>(work: Effect.Effect<A, VenueControlError>) =>
      Effect.match(work, { onSuccess: () => "answered", onFailure: ({ why, detail }) => `${why}: ${detail}` })
    return [yield* textOf(control.show), yield* textOf(control.command({ type: "clear" }))]
  }).pipe(Effect.provide(layerHttpVenueControl(connectionTo(url))), Effect.runPromise)
const both = (words: string) => [words, words]

describe("controls of the venue over HTTP", () => {
  it.each([
    ["a page of another server", 200, "<html>", "foreign: it has no controls of this version"],
    ["JSON of another server", 200, "{}", "foreign: it has no controls of this version"],
    ["a server without these routes", 404, "", "foreign: it has no controls of this version"],
    ["a server that fails", 500, "", "foreign: it has no controls of this version"],
    ["a venue that does not know the key", 401, "", "foreign: it does not accept this service's key"],
    ["a venue that refuses", 400, '{"_tag":"VenueBadRequest","message":"No such market."}', "refused: No such market."],
    ["a venue that ends", 503, '{"_tag":"VenueClosed","message":"The disk is full."}', "closed: The disk is full."]
  ] as const)("%s", async (_, status, body, words) => {
    assert.deepStrictEqual(await failures(await answering(status, body)), both(words))
  })

  it("no venue listens: nothing was done", async () => {
    const url = await answering(200, "")
    await stopListening()
    assert.deepStrictEqual(await failures(url), both("unreached: ECONNREFUSED"))
  })

  it("the connection breaks: a read has done nothing, a command may have been executed", async () => {
    const url = await listening((request) => request.socket.destroy())
    assert.deepStrictEqual(await failures(url), ["unreached: ECONNRESET", "lost: ECONNRESET"])
  })

  it("every request sends the key, a command is sent once", async () => {
    const seen: Array<string> = []
    const url = await listening((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers.authorization}`)
      response.writeHead(200, { "content-type": "application/json" }).end('{"number":1,"at":2,"id":null}')
    })
    await failures(url)
    assert.deepStrictEqual(seen, ["GET /venue/v1/control Bearer vnk_test", "POST /venue/v1/control Bearer vnk_test"])
  })
})
