/** A receiver on a real TLS socket, and a sender that signs as the service does, for the tests of the receiver. */
import { Effect, type Scope } from "effect"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { Agent, request } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { signatureOf } from "../../simulator/partner/deliverySignature.ts"
import { issueReceiverCertificate } from "../../simulator/partner/receiverCertificate.ts"
import {
  type ReceivedDelivery,
  startWebhookReceiver,
  type WebhookReceiver,
  type WebhookReceiverOptions
} from "../../simulator/partner/WebhookReceiver.ts"
import { LocalAuthority } from "../../src/runtime/adapters/LocalAuthority.ts"

export const now = 1_795_132_800_000
export const secret = `whs_${"a".repeat(43)}`

export const bodyOf = (id: number, event = "collateral.booked"): string =>
  JSON.stringify({
    id,
    event,
    partnerId: 7,
    clientId: 3,
    clientUid: "DEMO-00000003",
    partnerClientRef: "ref-3",
    ts: now,
    data: { amount: "250.000000" }
  })

export interface Sent {
  readonly body: string
  readonly secret: string
  readonly timestamp: string
  readonly headers: Readonly<Record<string, string>>
  readonly method: string
  readonly path: string
}

export interface Answered {
  readonly status: number
  readonly location: string | undefined
}

/** One attempt, as the service makes it, over a connection of its own that trusts only `ca`. */
export const deliver = (url: string, ca: string, id: number, over: Partial<Sent> = {}): Promise<Answered> => {
  const sent = { body: bodyOf(id), secret, timestamp: String(now / 1_000), headers: {}, method: "POST", ...over }
  return new Promise((resolve, reject) => {
    const outgoing = request(
      new URL(sent.path ?? new URL(url).pathname, url),
      {
        method: sent.method,
        agent: new Agent({ ca }),
        headers: {
          "content-type": "application/json",
          "x-brokerage-event": "collateral.booked",
          "x-brokerage-delivery": String(id),
          "x-brokerage-timestamp": sent.timestamp,
          "x-brokerage-signature": signatureOf(sent.secret, sent.timestamp, Buffer.from(sent.body)),
          ...sent.headers
        }
      },
      (answer) => {
        answer.resume()
        resolve({ status: answer.statusCode ?? 0, location: answer.headers.location })
      }
    )
    outgoing.on("error", reject)
    outgoing.end(sent.body)
  })
}

/** A local authority in a folder that the end of the scope removes. */
export const localAuthority = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "brokerage-receiver-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const made = yield* Effect.orDie(LocalAuthority.ensure({ dataDirectory: folder }))
  return { folder, ...made }
})

export interface World {
  readonly receiver: WebhookReceiver
  readonly received: ReadonlyArray<ReceivedDelivery>
  readonly ca: string
  readonly send: (id: number, over?: Partial<Sent>) => Effect.Effect<Answered>
  /** Completes at the next arrival. */
  readonly arrival: () => Promise<void>
}

/** A receiver that knows `secret`, with a clock that is stopped at `now`. */
export const startWorld = (options: Partial<WebhookReceiverOptions> = {}): Effect.Effect<World, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { folder, ca } = yield* localAuthority
    const key = readFileSync(join(folder, "tls", "ca.key"), "utf8")
    const tls = yield* Effect.orDie(issueReceiverCertificate({ certificate: ca, key }, Date.now()))
    const received: Array<ReceivedDelivery> = []
    let arrived = () => {}
    const receiver = yield* Effect.orDie(
      startWebhookReceiver({
        tls,
        port: 0,
        now: () => now,
        onDelivery: (delivery) => {
          received.push(delivery)
          arrived()
        },
        ...options
      })
    )
    yield* receiver.rotate(Effect.succeed(secret))
    return {
      receiver,
      received,
      ca,
      send: (id, over) => Effect.promise(() => deliver(receiver.url, ca, id, over)),
      arrival: () => new Promise((resolve) => (arrived = resolve))
    }
  })
