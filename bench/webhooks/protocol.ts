/** What the webhook benchmark asks of its two helper processes: the receivers, and graphile-worker. */

export type ReceiverQuestion =
  | { readonly kind: "listen"; readonly cert: string; readonly key: string; readonly mode: "healthy" | "hanging" }
  /** Forgets what came so far. */
  | { readonly kind: "reset" }
  | { readonly kind: "arrivals" }

export interface Arrivals {
  /** Different deliveries received. */
  readonly count: number
  /** Wall clock of every first arrival, Unix ms, ascending. */
  readonly at: ReadonlyArray<number>
  /** From the body's `ts` (queued) to the arrival, ms, ascending. */
  readonly latencies: ReadonlyArray<number>
}
export type ReceiverAnswer = { readonly port: number } | Arrivals

export type PeerQuestion =
  | { readonly kind: "prepare"; readonly databaseUrl: string; readonly ca: string }
  /** Queues `count` jobs that post to `url`, in one call. */
  | { readonly kind: "queue"; readonly url: string; readonly count: number }
  /** Queues jobs to `url` one by one, `perSecond` for `millis`; answers their number. */
  | { readonly kind: "trickle"; readonly url: string; readonly perSecond: number; readonly millis: number }
  /** Works on jobs, so many at once. */
  | { readonly kind: "run"; readonly concurrency: number }
  /** Stops working on jobs until the next "run". */
  | { readonly kind: "rest" }
  | { readonly kind: "stop" }
/** Jobs queued by a trickle; 0 otherwise. */
export type PeerAnswer = number
