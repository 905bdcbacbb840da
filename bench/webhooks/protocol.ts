/** The messages between the webhook benchmark and its two helper processes: the receivers, and graphile-worker. */

export type ReceiverQuestion =
  | { readonly kind: "listen"; readonly cert: string; readonly key: string; readonly mode: "healthy" | "hanging" }
  /** Forgets all deliveries received so far. */
  | { readonly kind: "reset" }
  | { readonly kind: "arrivals" }

export interface Arrivals {
  /** The number of different deliveries received. */
  readonly count: number
  /** Wall clock of the first arrival of each delivery, Unix ms, ascending. */
  readonly at: ReadonlyArray<number>
  /** The time from the body's `ts` (queued) to the arrival, ms, ascending. */
  readonly latencies: ReadonlyArray<number>
}
export type ReceiverAnswer = { readonly port: number } | Arrivals

export type PeerQuestion =
  | { readonly kind: "prepare"; readonly databaseUrl: string; readonly ca: string }
  /** Queues `count` jobs that post to `url`, in one call. */
  | { readonly kind: "queue"; readonly url: string; readonly count: number }
  /** Queues jobs to `url` one by one, `perSecond` for `millis`; returns their number. */
  | { readonly kind: "trickle"; readonly url: string; readonly perSecond: number; readonly millis: number }
  /** Runs jobs with this concurrency. */
  | { readonly kind: "run"; readonly concurrency: number }
  /** Pauses the work on jobs until the next "run". */
  | { readonly kind: "rest" }
  | { readonly kind: "stop" }
/** The number of jobs that a trickle has queued; 0 for other questions. */
export type PeerAnswer = number
