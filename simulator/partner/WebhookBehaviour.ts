/**
 * How the simulated receiver answers deliveries that it believes: as asked, so that the sender's retries, time limits and
 * refusal of redirects can be seen at work (operator surface, `sim partner listen`; SC-WHK-02..04).
 */

import { SeededRandom } from "./SeededRandom.ts"

/** What happens to one delivery. */
export type Reaction =
  | {
      readonly type: "answer"
      readonly status: number
      /** Where a redirect points. */
      readonly location?: string
      /** Waits this long before it answers. */
      readonly delayMillis?: number
    }
  /** The connection stays open and nothing is ever answered. */
  | { readonly type: "silent" }
  /** The connection ends without an answer. */
  | { readonly type: "reset" }
  /** Taken, and the connection ends before the answer: the sender has to send it again, as a duplicate. */
  | { readonly type: "lost" }

/** A delivery that is believed. */
export interface Arrived {
  readonly event: string
  /** How often its id has arrived, this time included. */
  readonly receipts: number
}

/** The reaction to the delivery that arrives as number `index`, from 0; only believed ones count. */
export type WebhookBehaviour = (index: number, arrived: Arrived) => Reaction

export const acknowledge = { type: "answer", status: 200 } as const satisfies Reaction

/** A sender that followed it would reach into its own network. */
export const privateLocation = "https://10.0.0.1/webhook"

export interface Misbehaviour {
  /** Only deliveries of these events meet any of it; the others are acknowledged at once. */
  readonly events?: ReadonlyArray<string>
  /** The first so many fail. */
  readonly fail?: number
  /** This share of the others fails, 0 to 1. */
  readonly share?: number
  /** How what fails is answered, 500 when absent; alone, without `fail` and `share`, everything fails. */
  readonly status?: number
  /** The answer to this share of those that arrive for the first time is lost, 0 to 1, so that they arrive twice. */
  readonly duplicate?: number
  /** Of the shares: the same seed chooses the same. */
  readonly seed?: number
  readonly delayMillis?: number
  /** 302 to a private address. */
  readonly redirect?: boolean
  readonly silent?: boolean
}

/**
 * The options of `sim partner listen`. Silence wins over everything, a failure over an answer that is lost, and that over a
 * redirect.
 */
export const misbehave = (how: Misbehaviour): WebhookBehaviour => {
  const { events, fail = 0, status = 500, duplicate = 0, delayMillis = 0, redirect = false, silent = false } = how
  const share = how.share ?? (how.status !== undefined && how.fail === undefined ? 1 : 0)
  const chance = new SeededRandom(how.seed ?? 1)
  let met = 0
  return (_, { event, receipts }) => {
    if (events !== undefined && !events.includes(event)) return acknowledge
    if (silent) return { type: "silent" }
    // Chance is asked each time, so that one option does not shift what another chooses.
    const [fails, loses] = [chance.chance(share), chance.chance(duplicate)]
    if (met++ < fail || fails) return { type: "answer", status, delayMillis }
    if (loses && receipts === 1) return { type: "lost" }
    if (redirect) return { type: "answer", status: 302, location: privateLocation, delayMillis }
    return { ...acknowledge, delayMillis }
  }
}

/** One reaction after the other, then the last one for ever; an empty script acknowledges. */
export const scripted =
  (reactions: ReadonlyArray<Reaction>): WebhookBehaviour =>
  (index) =>
    reactions[Math.min(index, reactions.length - 1)] ?? acknowledge

/** True when the receiver has taken the delivery, whether or not the sender hears of it. */
export const takes = (reaction: Reaction): boolean =>
  reaction.type === "lost" || (reaction.type === "answer" && reaction.status >= 200 && reaction.status < 300)
