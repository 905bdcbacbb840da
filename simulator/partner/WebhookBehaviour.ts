/**
 * The answers of the simulated receiver to genuine deliveries. They can be scripted to exercise the sender's retries, timeouts
 * and refusal of redirects (operator surface, `sim partner listen`; SC-WHK-02..04).
 */

import { SeededRandom } from "./SeededRandom.ts"

/** The receiver's reaction to one delivery: an answer, or one of three faults of the connection. */
export type Reaction =
  | {
      readonly type: "answer"
      readonly status: number
      /** Target of a redirect. */
      readonly location?: string
      /** Delay before the answer. */
      readonly delayMillis?: number
    }
  /** Keeps the connection open and never answers. */
  | { readonly type: "silent" }
  /** Ends the connection without an answer. */
  | { readonly type: "reset" }
  /** Accepts the delivery, then ends the connection before the answer. The sender has to retry, which makes a duplicate. */
  | { readonly type: "lost" }

/** A delivery whose signature and timestamp are valid. */
export interface Arrived {
  readonly event: string
  /** Arrivals of the delivery's id, this one included. */
  readonly receipts: number
}

/** The reaction to the delivery number `index`, from 0, of those that pass the receiver's checks. */
export type WebhookBehaviour = (index: number, arrived: Arrived) => Reaction

export const acknowledge = { type: "answer", status: 200 } as const satisfies Reaction

/** The target of a redirect: a sender that followed it would reach into its own network. */
export const privateLocation = "https://10.0.0.1/webhook"

export interface Misbehaviour {
  /** Applies the behaviour to deliveries of these events alone; others are acknowledged at once. */
  readonly events?: ReadonlyArray<string>
  /** Number of first deliveries that fail. */
  readonly fail?: number
  /** Share of the later deliveries that fail, 0 to 1. */
  readonly share?: number
  /** Status of a failure, 500 if absent. Without `fail` and `share`, everything fails. */
  readonly status?: number
  /** Share of first arrivals whose answer is lost, 0 to 1, so that they arrive twice. */
  readonly duplicate?: number
  /** Seed of the shares: the same seed makes the same choices. */
  readonly seed?: number
  readonly delayMillis?: number
  /** Whether deliveries are answered with 302 to a private address. */
  readonly redirect?: boolean
  readonly silent?: boolean
}

/**
 * The options of `sim partner listen`. Silence takes precedence over a failure, a failure over a lost answer, a lost answer
 * over a redirect.
 */
export const misbehave = (how: Misbehaviour): WebhookBehaviour => {
  const { events, fail = 0, status = 500, duplicate = 0, delayMillis = 0, redirect = false, silent = false } = how
  const share = how.share ?? (how.status !== undefined && how.fail === undefined ? 1 : 0)
  const chance = new SeededRandom(how.seed ?? 1)
  let met = 0
  return (_, { event, receipts }) => {
    if (events !== undefined && !events.includes(event)) return acknowledge
    if (silent) return { type: "silent" }
    // Both chances are drawn each time, so that one option does not shift the other's choices.
    const [fails, loses] = [chance.chance(share), chance.chance(duplicate)]
    if (met++ < fail || fails) return { type: "answer", status, delayMillis }
    if (loses && receipts === 1) return { type: "lost" }
    if (redirect) return { type: "answer", status: 302, location: privateLocation, delayMillis }
    return { ...acknowledge, delayMillis }
  }
}

/** Reactions in order, then the last one for ever; an empty script acknowledges. */
export const scripted =
  (reactions: ReadonlyArray<Reaction>): WebhookBehaviour =>
  (index) =>
    reactions[Math.min(index, reactions.length - 1)] ?? acknowledge

/** Whether the receiver has accepted the delivery, even if the sender gets no answer. */
export const takes = (reaction: Reaction): boolean =>
  reaction.type === "lost" || (reaction.type === "answer" && reaction.status >= 200 && reaction.status < 300)
