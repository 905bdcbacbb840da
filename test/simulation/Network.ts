/**
 * The receivers of the partners and the way to them: slow, lying and dead receivers, 500 after processing, answers that
 * come too late (doc 3, Webhook registration and delivery). A receiver writes down all it gets; what it believes in the
 * end is the auditor's evidence.
 */
import { Effect, Layer } from "effect"
import type { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { webhookLimits } from "../../src/machines/shared/Limits.ts"
import { type OutgoingWebhook, type SendOutcome, WebhookSender } from "../../src/runtime/ports/WebhookSender.ts"
import type { SimProcess } from "./SimProcess.ts"
import type { Lane } from "./Timeline.ts"

/**
 * How a receiver takes a delivery. `Late`: a 2xx after the sender gave up. `Liar`: it has processed it and answers 500.
 * `Dead`: nobody answers.
 */
export type Manner = "Healthy" | "Late" | "Liar" | "Dead"
export const manners: ReadonlyArray<Manner> = ["Healthy", "Late", "Liar", "Dead"]

/** One arrival at a receiver. */
export interface Arrival extends OutgoingWebhook {
  readonly at: number
  readonly process: string
  /** Status of the answer. */
  readonly answered: number
}

export interface NetworkOptions {
  readonly outside: Lane
  readonly random: SeededRandom
  /** Called on every arrival, before the sender hears of it. */
  readonly onArrival: (arrival: Arrival) => void
}

export class Network {
  /** How the receiver behind a url behaves now; Healthy when not named. */
  readonly manners = new Map<string, Manner>()
  private readonly options: NetworkOptions

  constructor(options: NetworkOptions) {
    this.options = options
  }

  /** The sender of one process; `onSend` sees what leaves. */
  senderOf(process: SimProcess, onSend: (webhook: OutgoingWebhook) => OutgoingWebhook): Layer.Layer<WebhookSender> {
    return Layer.succeed(
      WebhookSender,
      WebhookSender.of({
        send: (given) =>
          Effect.callback<SendOutcome>((resume) => {
            const webhook = onSend(given)
            let over = false
            const end = (outcome: SendOutcome) => {
              if (!over) resume(Effect.succeed(outcome))
              over = true
            }
            process.lane.after(webhookLimits.acknowledgeMillis, () =>
              end({ _tag: "Failed", status: null, error: "The endpoint did not answer in time." })
            )
            this.carry(webhook, process, (status) => {
              process.lane.after(0, () => end(outcomeOf(status)))
            })
            return Effect.sync(() => {
              over = true
            })
          })
      })
    )
  }

  private carry(webhook: OutgoingWebhook, process: SimProcess, answer: (status: number | null) => void): void {
    const { outside, random, onArrival } = this.options
    outside.after(random.between(1, 40), () => {
      const manner = this.manners.get(webhook.url) ?? "Healthy"
      if (manner === "Dead") return void outside.after(5, () => answer(null))
      const status = statusOf(manner, random)
      const late = manner === "Late" ? webhookLimits.acknowledgeMillis : 0
      onArrival({ ...webhook, at: outside.timeline.now, process: process.name, answered: status })
      outside.after(late + random.between(1, 200), () => answer(status))
    })
  }
}

const statusOf = (manner: Manner, random: SeededRandom): number => {
  if (manner === "Late") return 200
  return manner === "Healthy" && !random.chance(0.03) ? 204 : 500
}

const outcomeOf = (status: number | null): SendOutcome =>
  status !== null && status >= 200 && status < 300
    ? { _tag: "Acknowledged", status }
    : { _tag: "Failed", status, error: status === null ? "The connection failed." : `The endpoint answered ${status}.` }
