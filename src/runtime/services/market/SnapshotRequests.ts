/**
 * Requests snapshots of channels that lost a message or never got a snapshot, until they have one. Each channel has one
 * request at a time, and a few channels request concurrently. The pause after a request grows while the channel loses
 * messages again. So a venue with impossible snapshots gets about a dozen requests a minute instead of an endless burst
 * (A2-115, F3).
 */
import { Effect, type Scope, Semaphore } from "effect"
import type { ChannelMessage } from "../../../machines/venue/marketData.ts"
import { Backoff } from "../../engine/Backoff.ts"
import type { Subscription, VenueShape } from "../../ports/Venue.ts"

export interface SnapshotRequestsParts {
  readonly venue: Pick<VenueShape, "snapshot">
  /** Applies a snapshot. Its result does not matter here. */
  readonly take: (message: ChannelMessage) => Effect.Effect<unknown>
  readonly isCurrent: (subscription: Subscription) => boolean
  /** The wall clock, ms. */
  readonly now: () => number
}

/** The state of one channel. */
interface ChannelState {
  requesting: boolean
  /** Earliest wall time of the next request. */
  notBefore: number
  readonly backoff: Backoff
}

const firstPause = 250
const longestPause = 8_000
/** A channel that has needed no snapshot for this long is requested without a pause. */
const calmMillis = 10_000
/** Timeout of a snapshot request, ms, and the number of channels that request concurrently. */
const readLimit = 5_000
const requestsAtOnce = 4

export class SnapshotRequests {
  private readonly channels = new Map<string, ChannelState>()
  private readonly room = Semaphore.makeUnsafe(requestsAtOnce)
  private readonly parts: SnapshotRequestsParts

  constructor(parts: SnapshotRequestsParts) {
    this.parts = parts
  }

  /**
   * Requests snapshots in the background until the channel is current. No-op if such requests are in progress. Ends
   * with the scope.
   */
  want(subscription: Subscription): Effect.Effect<void, never, Scope.Scope> {
    return Effect.suspend(() => {
      const state = this.stateOf(subscription)
      if (state.requesting) return Effect.void
      state.requesting = true
      if (this.parts.now() - state.notBefore > calmMillis) state.backoff.reset()
      const until = this.once(subscription, state).pipe(
        Effect.repeat({ while: () => !this.parts.isCurrent(subscription) }),
        Effect.ensuring(Effect.sync(() => void (state.requesting = false)))
      )
      return Effect.asVoid(Effect.forkScoped(until))
    })
  }

  /** Waits for the earliest time, then sends one request if the channel is still not current. */
  private once(subscription: Subscription, state: ChannelState): Effect.Effect<void> {
    const { venue, take, isCurrent, now } = this.parts
    const request = venue.snapshot(subscription).pipe(
      Effect.timeout(readLimit),
      Effect.flatMap(take),
      Effect.catchCause((cause) =>
        Effect.logDebug("a snapshot of market data can not be read: the service requests it again", cause)
      )
    )
    return Effect.suspend(() => Effect.sleep(Math.max(0, state.notBefore - now()))).pipe(
      Effect.andThen(this.room.withPermits(1)(Effect.suspend(() => (isCurrent(subscription) ? Effect.void : request)))),
      Effect.andThen(Effect.map(state.backoff.next, (pause) => void (state.notBefore = now() + pause)))
    )
  }

  private stateOf({ channel, symbol }: Subscription): ChannelState {
    const key = `${channel}:${symbol}`
    const found = this.channels.get(key) ?? {
      requesting: false,
      notBefore: 0,
      backoff: new Backoff(firstPause, longestPause)
    }
    this.channels.set(key, found)
    return found
  }
}
