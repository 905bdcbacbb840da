/**
 * The simulated partner's webhook endpoint: HTTPS on 127.0.0.1. It accepts only signed and fresh deliveries, detects
 * duplicates, answers by its behaviour and reports all arrivals (operator surface, `sim partner listen`; doc 3, Webhook
 * registration and delivery).
 */
import { Effect, Schema, type Scope } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import { isFresh, isSignedBy } from "./deliverySignature.ts"
import { SeenDeliveries } from "./SeenDeliveries.ts"
import { acknowledge, type Reaction, takes, type WebhookBehaviour } from "./WebhookBehaviour.ts"
import { parsePayload, type DeliveryPayload } from "./DeliveryPayload.ts"

/** The socket can't be opened; the sentence is for the user. */
export class ReceiverNotStarted extends Schema.TaggedError<ReceiverNotStarted>()("ReceiverNotStarted", {
  sentence: Schema.String
}) {
  override get message(): string {
    return this.sentence
  }
}

/** One arrival of a request at the receiver. */
export interface ReceivedDelivery {
  /** The id in the body; null if the body is no delivery. Without a valid signature the id proves nothing (`problem`). */
  readonly id: number | null
  readonly event: string | null
  readonly signatureOk: boolean
  /** True if the signed timestamp is within 300 s of the receiver's clock. */
  readonly fresh: boolean
  /** True when the receiver acknowledges the delivery. */
  readonly accepted: boolean
  /** True if a delivery with this id was accepted before. */
  readonly duplicate: boolean
  /** Number of arrivals with this id, this one included; 0 if the delivery has a problem. */
  readonly receipts: number
  /** The decoded body of a genuine delivery; null if the delivery has a problem. */
  readonly body: DeliveryPayload | null
  /** Why the delivery is rejected; null for a genuine one. */
  readonly problem: string | null
  readonly reaction: Reaction
}

export interface WebhookReceiverOptions {
  /** PEM texts. */
  readonly tls: { readonly cert: string; readonly key: string }
  /** The port to listen on; 0 picks a free one. */
  readonly port: number
  readonly onDelivery: (delivery: ReceivedDelivery) => void
  /** Chooses the answer to each genuine delivery; without it, all of them are acknowledged. */
  readonly behaviour?: WebhookBehaviour
  /** The receiver's own clock, Unix ms. */
  readonly now?: () => number
  /** Limit on the ids that are remembered to detect duplicates. */
  readonly remembered?: number
  /** The path of its address; default `/webhook`. */
  readonly path?: string
}

const webhookPath = "/webhook"
/** The largest accepted body in bytes, far above every event of the catalogue. */
export const bodyLimit = 256 * 1024
const requestMillis = 10_000
/** Keep-alive timeout, ms. It is longer than the pauses of a sender that keeps its connections. */
const keepAliveMillis = 60_000
const mostConnections = 256

export class WebhookReceiver {
  readonly url: string
  private readonly path: string
  private readonly options: WebhookReceiverOptions
  private readonly seen: SeenDeliveries
  /** The current secret, then the previous one, because a delivery signed before a rotation may arrive after it. */
  private secrets: ReadonlyArray<string> = []
  private rotation: Promise<void> = Promise.resolve()
  private believed = 0

  constructor(url: string, options: WebhookReceiverOptions) {
    this.url = url
    this.path = new URL(url).pathname
    this.options = options
    this.seen = new SeenDeliveries(options.remembered)
  }

  /**
   * Takes over the secret of a registration's answer. Deliveries wait until then, because the service may sign with the new
   * secret before its answer arrives.
   */
  rotate<E>(registration: Effect.Effect<string, E>): Effect.Effect<string, E> {
    return Effect.suspend(() => {
      let settle = () => {}
      this.rotation = new Promise((resolve) => (settle = resolve))
      return registration.pipe(
        Effect.tap((secret) => Effect.sync(() => (this.secrets = [secret, ...this.secrets.slice(0, 1)]))),
        Effect.ensuring(Effect.sync(() => settle()))
      )
    })
  }

  async receive(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    if (incoming.method !== "POST" || incoming.url !== this.path) {
      incoming.resume()
      return void outgoing.writeHead(404).end()
    }
    const bytes = await readBody(incoming)
    if (bytes === null) return void outgoing.writeHead(413, { connection: "close" }).end()
    await this.rotation
    const delivery = this.judge(bytes, incoming)
    this.options.onDelivery(delivery)
    react(delivery.reaction, incoming, outgoing)
  }

  private judge(bytes: Buffer, { headers }: IncomingMessage): ReceivedDelivery {
    const timestamp = String(headers["x-brokerage-timestamp"] ?? "")
    const signatureOk = isSignedBy(this.secrets, timestamp, bytes, String(headers["x-brokerage-signature"] ?? ""))
    const fresh = isFresh(timestamp, (this.options.now ?? Date.now)())
    const body = parsePayload(bytes)
    const common = { id: body?.id ?? null, event: body?.event ?? null, signatureOk, fresh }
    const refuse = (status: number, problem: string): ReceivedDelivery => ({
      ...common,
      accepted: false,
      duplicate: false,
      receipts: 0,
      body: null,
      problem,
      reaction: { type: "answer", status }
    })
    if (!signatureOk) return refuse(401, "The signature does not fit the body.")
    if (!fresh) return refuse(401, "The timestamp is more than 300 seconds off.")
    if (body === null) return refuse(400, "The body is not a delivery.")
    if (headers["x-brokerage-delivery"] !== String(body.id) || headers["x-brokerage-event"] !== body.event) {
      return refuse(400, "The headers name another delivery than the body.")
    }
    const arrived = { event: body.event, receipts: this.seen.receipts(body.id) + 1 }
    const reaction = this.options.behaviour?.(this.believed++, arrived) ?? acknowledge
    const accepted = takes(reaction)
    return { ...common, accepted, ...this.seen.note(body.id, accepted), body, problem: null, reaction }
  }
}

/** Listens until the scope closes; connections that wait for an answer are then cut. */
export const startWebhookReceiver = (
  options: WebhookReceiverOptions
): Effect.Effect<WebhookReceiver, ReceiverNotStarted, Scope.Scope> =>
  Effect.gen(function* () {
    const server = createServer({
      ...options.tls,
      requestTimeout: requestMillis,
      headersTimeout: requestMillis,
      keepAliveTimeout: keepAliveMillis
    })
    server.maxConnections = mostConnections
    yield* Effect.acquireRelease(listen(server, options.port), () => close(server))
    const { port } = server.address() as AddressInfo
    const receiver = new WebhookReceiver(`https://127.0.0.1:${port}${options.path ?? webhookPath}`, options)
    server.on("request", (incoming, outgoing) => {
      // Fails only if the sender disconnects inside its request.
      receiver.receive(incoming, outgoing).catch(() => incoming.destroy())
    })
    return receiver
  })

const listen = (server: Server, port: number): Effect.Effect<void, ReceiverNotStarted> =>
  Effect.callback((resume) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      resume(
        Effect.fail(
          new ReceiverNotStarted({ sentence: `The port can not be listened on (${error.code ?? error.message}).` })
        )
      )
    )
    server.listen(port, "127.0.0.1", () => resume(Effect.void))
  })

const close = (server: Server): Effect.Effect<void> =>
  Effect.callback((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })

/** The exact bytes of a body. Null for a body over `bodyLimit`, whose remaining bytes are discarded. */
const readBody = (incoming: IncomingMessage): Promise<Buffer | null> =>
  new Promise((resolve, reject) => {
    const parts: Array<Buffer> = []
    let size = 0
    incoming.on("data", (part: Buffer) => {
      size += part.length
      if (size > bodyLimit) {
        parts.length = 0
        resolve(null)
      } else parts.push(part)
    })
    incoming.on("end", () => resolve(Buffer.concat(parts)))
    incoming.on("close", () => reject(new Error("the sender went away")))
    incoming.on("error", reject)
  })

const react = (reaction: Reaction, incoming: IncomingMessage, outgoing: ServerResponse): void => {
  if (reaction.type === "silent") return
  if (reaction.type === "reset" || reaction.type === "lost") return void incoming.socket.destroy()
  const { status, location, delayMillis = 0 } = reaction
  const answer = () => outgoing.writeHead(status, location === undefined ? {} : { location }).end()
  if (delayMillis === 0) return void answer()
  const timer = setTimeout(answer, delayMillis)
  outgoing.once("close", () => clearTimeout(timer))
}
