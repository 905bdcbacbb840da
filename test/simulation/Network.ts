/**
 * The receivers of the partners and the way to them: slow, lying and dead receivers, 500 after processing, answers that
 * come too late (doc 3, Webhook registration and delivery). A receiver writes down all it gets; what it believes in the
 * end is the auditor's evidence.
 */
import { Effect, type Layer } from "effect"
import type { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { webhookLimits } from "../../src/machines/shared/Limits.ts"
import type { OutgoingWebhook, WebhookSender } from "../../src/runtime/ports/WebhookSender.ts"
import { type Received, WebhookSenderMemory } from "../../src/runtime/ports/WebhookSenderMemory.ts"
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
    return WebhookSenderMemory.layer((given) =>
      Effect.callback<Received>((resume) => {
        const webhook = onSend(given)
        let over = false
        const end = (received: Received) => {
          if (!over) resume(Effect.succeed(received))
          over = true
        }
        process.lane.after(webhookLimits.acknowledgeMillis, () => end("Silent"))
        this.carry(webhook, process, (received) => {
          process.lane.after(0, () => end(received))
        })
        return Effect.sync(() => {
          over = true
        })
      })
    )
  }

  private carry(webhook: OutgoingWebhook, process: SimProcess, answer: (received: Received) => void): void {
    const { outside, random, onArrival } = this.options
    outside.after(random.between(1, 40), () => {
      const manner = this.manners.get(webhook.url) ?? "Healthy"
      if (manner === "Dead") return void outside.after(5, () => answer("Unreachable"))
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
