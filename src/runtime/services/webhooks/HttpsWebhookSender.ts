/**
 * Attempts over HTTPS. The host's addresses are checked for every attempt, and the connection goes to one of the
 * checked addresses. The timeout is ten seconds from the start of the connection to the response headers. Redirects are
 * not followed, no proxy is used, and certificates are always verified (A3-32, A3-33).
 */
import { Clock, Effect, Layer } from "effect"
import type { ClientRequest, IncomingMessage } from "node:http"
import { type Agent, request as httpsRequest } from "node:https"
import { webhookLimits } from "../../../machines/shared/Limits.ts"
import { Settings } from "../../Settings.ts"
import {
  answerError,
  connectionError,
  interimError,
  silenceError,
  unansweredError,
  unreadableUrlError
} from "./attemptError.ts"
import { closeIdle, EndpointAgents } from "./EndpointAgents.ts"
import { signedHeaders } from "./signature.ts"
import { WebhookAddresses } from "./WebhookAddresses.ts"
import { type OutgoingWebhook, type SendOutcome, WebhookSender } from "../../ports/WebhookSender.ts"

export interface HttpsWebhookSenderOptions {
  /** Timeout from the start of the connection to the response headers, wall clock ms. */
  readonly acknowledgeMillis?: number
}

/**
 * The most interim responses (1xx, such as 103) before the final one. Each costs work, and a receiver could send them
 * without end.
 */
const interimAnswers = 8
/** Timeout of reading the body of an acknowledgement, wall clock ms. After it the connection is closed. */
const drainMillis = 2_000
/**
 * The most acknowledgement bodies that are read at the same time per endpoint. Above this limit the connection is
 * closed at once, because the slot of the delivery is already free.
 */
const drainsPerEndpoint = 4
const draining = new WeakMap<Agent, number>()

export const HttpsWebhookSender = {
  layer: (options: HttpsWebhookSenderOptions = {}): Layer.Layer<WebhookSender, never, WebhookAddresses | Settings> =>
    Layer.effect(
      WebhookSender,
      Effect.gen(function* () {
        const addresses = yield* WebhookAddresses
        const { webhookAuthority } = yield* Settings
        const agents = yield* Effect.acquireRelease(
          Effect.sync(() => new EndpointAgents(webhookAuthority)),
          (made) => Effect.sync(() => made.close())
        )
        const limitMillis = options.acknowledgeMillis ?? webhookLimits.acknowledgeMillis
        const send = Effect.fnUntraced(function* (webhook: OutgoingWebhook) {
          if (!URL.canParse(webhook.url)) return failed(null, unreadableUrlError)
          const url = new URL(webhook.url)
          const host = url.hostname.replace(/^\[|\]$/g, "")
          const found = yield* addresses.check(host)
          const agent = agents.get({ origin: url.origin, addresses: found, exempt: addresses.isExempt(host) })
          const headers = signedHeaders(webhook, yield* Clock.currentTimeMillis)
          return yield* attempt({ webhook, url, agent, headers, limitMillis })
        })
        return WebhookSender.of({
          send: (webhook) =>
            Effect.catchTag(send(webhook), "AddressRefused", ({ sentence }) => Effect.succeed(failed(null, sentence)))
        })
      })
    )
}

const failed = (status: number | null, error: string): SendOutcome => ({ _tag: "Failed", status, error })

interface Attempt {
  readonly webhook: OutgoingWebhook
  readonly url: URL
  readonly agent: Agent
  readonly headers: Readonly<Record<string, string>>
  readonly limitMillis: number
}

const attempt = (given: Attempt): Effect.Effect<SendOutcome> =>
  Effect.callback<SendOutcome>((resume) => {
    const body = Buffer.from(given.webhook.body, "utf8")
    let outgoing: ClientRequest
    /** The outcome as of the part of the response that has arrived; null: no response has begun. */
    let readSoFar: (() => SendOutcome) | null = null
    let settled = false
    const settle = (outcome: SendOutcome): void => {
      if (settled) return
      settled = true
      clearTimeout(deadline)
      resume(Effect.succeed(outcome))
    }
    const deadline = setTimeout(() => {
      settle(readSoFar?.() ?? failed(null, silenceError(given.limitMillis)))
      outgoing.destroy()
    }, given.limitMillis)

    const dial = (mayRedial: boolean): void => {
      outgoing = httpsRequest(given.url, {
        method: "POST",
        agent: given.agent,
        headers: { ...given.headers, "Content-Length": body.length, "User-Agent": "partner-brokerage-webhooks" }
      })
      const mine = outgoing
      let interims = 0
      mine.on("information", () => {
        if (++interims <= interimAnswers) return
        settle(failed(null, interimError(interimAnswers)))
        mine.destroy()
      })
      mine.on("response", (incoming) => {
        readSoFar = answered(incoming, given.agent, settle)
      })
      mine.on("error", (error) => {
        // The receiver may have closed an idle connection just now, which is no failure: connect once more.
        if (mayRedial && mine.reusedSocket && isGone(error) && !settled) {
          closeIdle(given.agent)
          return dial(false)
        }
        settle(readSoFar?.() ?? failed(null, connectionError(error)))
      })
      mine.on("close", () => {
        if (mine === outgoing) settle(readSoFar?.() ?? failed(null, unansweredError))
      })
      mine.end(body)
    }
    dial(true)
    return Effect.sync(() => {
      settled = true
      clearTimeout(deadline)
      outgoing.destroy()
    })
  })

const isGone = (error: unknown): boolean =>
  ["ECONNRESET", "EPIPE"].includes((error as { readonly code?: string }).code ?? "")

/** Handles a response. Returns the outcome that applies if the timeout comes before its end. */
const answered = (
  incoming: IncomingMessage,
  agent: Agent,
  settle: (outcome: SendOutcome) => void
): (() => SendOutcome) => {
  const status = incoming.statusCode ?? 0
  const isAcknowledged = status >= 200 && status < 300
  const chunks: Array<Buffer> = []
  let size = 0
  const outcome = (): SendOutcome =>
    isAcknowledged
      ? { _tag: "Acknowledged", status }
      : failed(status, answerError(status, Buffer.concat(chunks).toString("utf8")))
  if (isAcknowledged) {
    settle(outcome())
    drain(incoming, agent)
  }
  incoming.on("data", (chunk: Buffer) => {
    const room = webhookLimits.failureBodyReadBytes - size
    if (room > 0 && !isAcknowledged) chunks.push(chunk.subarray(0, room))
    size += chunk.length
    if (size <= webhookLimits.failureBodyReadBytes) return
    // The unread remainder of the body makes the connection unusable for another request.
    settle(outcome())
    incoming.destroy()
  })
  incoming.on("end", () => settle(outcome()))
  incoming.on("error", () => settle(outcome()))
  incoming.on("close", () => settle(outcome()))
  return outcome
}

/** Reads the body of an acknowledgement to its end, within limits, so that the connection can be reused. */
const drain = (incoming: IncomingMessage, agent: Agent): void => {
  const open = draining.get(agent) ?? 0
  if (open >= drainsPerEndpoint) return void incoming.destroy()
  draining.set(agent, open + 1)
  const giveUp = setTimeout(() => incoming.destroy(), drainMillis)
  incoming.once("close", () => {
    clearTimeout(giveUp)
    draining.set(agent, (draining.get(agent) ?? 1) - 1)
  })
}
