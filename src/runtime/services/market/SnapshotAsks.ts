/**
 * Asks the venue for snapshots of channels that have lost their place, or never got one, until they have it again: one ask of
 * a channel at a time, few channels side by side, and after each ask a pause that grows while the channel goes on losing its
 * place. A venue whose snapshots can't be true is so asked a dozen times a minute and not at once for ever (A2-115, F3).
 */
import { Effect, type Scope, Semaphore } from "effect"
import type { ChannelMessage } from "../../../machines/venue/marketData.ts"
import { Backoff } from "../../engine/Backoff.ts"
import type { Subscription, VenueShape } from "../../ports/Venue.ts"

export interface SnapshotAsksParts {
  readonly venue: Pick<VenueShape, "snapshot">
  /** Takes a snapshot, whatever becomes of it. */
  readonly take: (message: ChannelMessage) => Effect.Effect<unknown>
  readonly isCurrent: (subscription: Subscription) => boolean
  /** Wall time. */
  readonly now: () => number
}

/** Of one channel. */
interface Asked {
  asking: boolean
  /** Wall time of the next request, at the earliest. */
  notBefore: number
  readonly backoff: Backoff
}

const firstPause = 250
const longestPause = 8_000
/** A channel that has kept its place for so long is asked for at once when it loses it. */
const calmMillis = 10_000
/** A read that takes longer is given up. */
const readLimit = 5_000
const askedAtOnce = 4

export class SnapshotAsks {
  private readonly channels = new Map<string, Asked>()
  private readonly room = Semaphore.makeUnsafe(askedAtOnce)
  private readonly parts: SnapshotAsksParts

  constructor(parts: SnapshotAsksParts) {
    this.parts = parts
  }

  /** Asks beside the caller until the channel has its place; nothing more when that is under way. Ends with the scope. */
  want(subscription: Subscription): Effect.Effect<void, never, Scope.Scope> {
    return Effect.suspend(() => {
      const asked = this.asked(subscription)
      if (asked.asking) return Effect.void
      asked.asking = true
      if (this.parts.now() - asked.notBefore > calmMillis) asked.backoff.reset()
      const until = this.once(subscription, asked).pipe(
        Effect.repeat({ while: () => !this.parts.isCurrent(subscription) }),
        Effect.ensuring(Effect.sync(() => void (asked.asking = false)))
      )
      return Effect.asVoid(Effect.forkScoped(until))
    })
  }

  /** When its time has come, and only while it is needed. */
  private once(subscription: Subscription, asked: Asked): Effect.Effect<void> {
    const { venue, take, isCurrent, now } = this.parts
    const ask = venue.snapshot(subscription).pipe(
      Effect.timeout(readLimit),
      Effect.flatMap(take),
      Effect.catchCause((cause) => Effect.logDebug("a snapshot of market data can not be read", cause))
    )
    return Effect.suspend(() => Effect.sleep(Math.max(0, asked.notBefore - now()))).pipe(
      Effect.andThen(this.room.withPermits(1)(Effect.suspend(() => (isCurrent(subscription) ? Effect.void : ask)))),
      Effect.andThen(Effect.map(asked.backoff.next, (pause) => void (asked.notBefore = now() + pause)))
    )
  }

  private asked({ channel, symbol }: Subscription): Asked {
    const key = `${channel}:${symbol}`
    const found = this.channels.get(key) ?? {
      asking: false,
      notBefore: 0,
      backoff: new Backoff(firstPause, longestPause)
    }
    this.channels.set(key, found)
    return found
  }
}
