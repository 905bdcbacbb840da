/**
 * The venue as a reference service calls it: over HTTP with keep-alive connections. An account is opened before its
 * first call.
 */
import { Agent, request as httpRequest } from "node:http"
import type { VenueOutcome } from "../../src/machines/venue/venueCalls.ts"

export interface VenueAddress {
  readonly venueUrl: string
  readonly venueKey: string
}

export class VenueSide {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 64 })
  private readonly opened = new Map<string, Promise<unknown>>()
  private readonly url: URL
  private readonly key: string

  constructor({ venueUrl, venueKey }: VenueAddress) {
    this.url = new URL(venueUrl)
    this.key = venueKey
  }

  /** Sends a call of an account. The account's name is also the `ref` of the call that opens the account. */
  async write(path: string, account: string, body: object): Promise<VenueOutcome> {
    const opening = this.opened.get(account) ?? this.post("/accounts", { ref: `X-${account}`, account })
    this.opened.set(account, opening)
    await opening
    return this.post<VenueOutcome>(path, { account, ...body })
  }

  post<A>(path: string, body: object): Promise<A> {
    const { hostname, port } = this.url
    const headers = { authorization: `Bearer ${this.key}`, "content-type": "application/json" }
    return new Promise((resolve, reject) => {
      const sent = httpRequest(
        { hostname, port, path: `/venue/v1${path}`, method: "POST", agent: this.agent, headers },
        (answer) => {
          let text = ""
          answer.setEncoding("utf8")
          answer.on("data", (piece: string) => void (text += piece))
          answer.once("end", () => resolve(JSON.parse(text) as A))
        }
      )
      sent.once("error", reject)
      sent.end(JSON.stringify(body))
    })
  }
}
