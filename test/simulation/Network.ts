/**
 * The partners' receivers and the network to them: receivers that are slow, lying or dead, answers with 500 after
 * processing, and answers that come too late (doc 3, Webhook registration and delivery). A receiver records all
 * deliveries; the auditor compares its records with the store at the end.
 */
import { Effect, type Layer } from "effect"
import type { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { webhookLimits } from "../../src/machines/shared/Limits.ts"
import type { OutgoingWebhook, WebhookSender } from "../../src/runtime/ports/WebhookSender.ts"
import { type Received, WebhookSenderMemory } from "../../src/runtime/ports/WebhookSenderMemory.ts"
import type { SimProcess } from "./SimProcess.ts"
import type { Lane } from "./Timeline.ts"

/**
 * How a receiver treats a delivery. `Late`: it answers 2xx after the sender's timeout. `Liar`: it processes the
 * delivery and answers 500. `Dead`: it does not answer.
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
  /** Called on every arrival, before the sender gets the answer. */
  readonly onArrival: (arrival: Arrival) => void
}

export class Network {
  /** The present behaviour of the receiver at a URL. A URL without an entry is Healthy. */
  readonly manners = new Map<string, Manner>()
  private readonly options: NetworkOptions

  constructor(options: NetworkOptions) {
    this.options = options
  }

  /** The sender of one process. `onSend` receives each webhook that leaves and may replace it. */
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
