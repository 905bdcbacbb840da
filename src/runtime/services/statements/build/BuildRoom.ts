/**
 * Builds of statements at a time: so many of a partner run, so many more wait, and any further one is refused at once, so that
 * one partner's statements hold up neither another's nor anybody's money (A2-75, STS-21).
 */
import { Effect, Semaphore } from "effect"
import { statementLimits } from "../../../../machines/shared/Limits.ts"
import { Unavailable } from "../../../engine/mailbox/ActorHost.ts"

const { running, waiting } = statementLimits

interface Room {
  readonly semaphore: Semaphore.Semaphore
  inside: number
}

export class BuildRoom {
  private readonly rooms = new Map<number, Room>()

  /** Whether a further build of the partner would be refused. */
  isFull(partnerId: number): boolean {
    return (this.rooms.get(partnerId)?.inside ?? 0) >= running + waiting
  }

  /** Runs a build when there is room for it. */
  within<A, E>(partnerId: number, work: Effect.Effect<A, E>): Effect.Effect<A, E | Unavailable> {
    return Effect.suspend((): Effect.Effect<A, E | Unavailable> => {
      if (this.isFull(partnerId)) return Effect.fail(new Unavailable({ unknown: false }))
      const room = this.rooms.get(partnerId) ?? { semaphore: Semaphore.makeUnsafe(running), inside: 0 }
      this.rooms.set(partnerId, room)
      room.inside++
      return Effect.ensuring(
        room.semaphore.withPermits(1)(work),
        Effect.sync(() => {
          if (--room.inside === 0) this.rooms.delete(partnerId)
        })
      )
    })
  }
}
