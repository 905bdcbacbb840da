/**
 * How the simulated receiver answers deliveries that it believes: as asked, so that the sender's retries, time limits and
 * refusal of redirects can be seen at work (operator surface, `sim partner listen`; SC-WHK-02..04).
 */

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

/** The reaction to the delivery that arrives as number `index`, from 0; only believed ones count. */
export type WebhookBehaviour = (index: number) => Reaction

export const acknowledge = { type: "answer", status: 200 } as const satisfies Reaction

/** A sender that followed it would reach into its own network. */
export const privateLocation = "https://10.0.0.1/webhook"

export interface Misbehaviour {
  /** The first so many are answered 500. */
  readonly fail?: number
  readonly delayMillis?: number
  /** 302 to a private address. */
  readonly redirect?: boolean
  readonly silent?: boolean
}

/** The options of `sim partner listen`. Silence wins over everything; a failure wins over a redirect. */
export const misbehave =
  ({ fail = 0, delayMillis = 0, redirect = false, silent = false }: Misbehaviour): WebhookBehaviour =>
  (index) => {
    if (silent) return { type: "silent" }
    if (index < fail) return { type: "answer", status: 500, delayMillis }
    if (redirect) return { type: "answer", status: 302, location: privateLocation, delayMillis }
    return { ...acknowledge, delayMillis }
  }

/** One reaction after the other, then the last one for ever; an empty script acknowledges. */
export const scripted =
  (reactions: ReadonlyArray<Reaction>): WebhookBehaviour =>
  (index) =>
    reactions[Math.min(index, reactions.length - 1)] ?? acknowledge

/** True when the sender may forget the delivery. */
export const acknowledges = (reaction: Reaction): boolean =>
  reaction.type === "answer" && reaction.status >= 200 && reaction.status < 300
