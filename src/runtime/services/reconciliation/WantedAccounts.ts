/** The accounts that the comparison with the venue takes out of turn (A2-103). */
import { Effect, Latch } from "effect"

/** The most accounts that wait. Any further account is compared with its slice. */
const most = 10_000
/** An account is wanted because of its quarantined events once in this time at most, ms. */
export const asidePause = 60_000

export class WantedAccounts {
  private uids = new Set<string>()
  private clientIds = new Set<number>()
  private readonly wake = Latch.makeUnsafe(false)
  /** The accounts wanted because of a quarantined event in this pause; true: another event came since. */
  private asides = new Map<string, boolean>()

  want(uid: string): void {
    if (this.uids.size < most) this.uids.add(uid)
    this.wake.openUnsafe()
  }

  wantClient(clientId: number): void {
    if (this.clientIds.size < most) this.clientIds.add(clientId)
    this.wake.openUnsafe()
  }

  /**
   * Wants the account of a quarantined event. A bad stream may quarantine many events of an account: those of one pause want it at
   * once and at the end of the pause.
   */
  wantAside(uid: string): void {
    if (this.asides.has(uid)) return void this.asides.set(uid, true)
    if (this.asides.size < most) this.asides.set(uid, false)
    this.want(uid)
  }

  /** Ends the pauses, for ever. */
  readonly pauses: Effect.Effect<never> = Effect.sleep(asidePause).pipe(
    Effect.andThen(
      Effect.sync(() => {
        const again = [...this.asides].filter(([, came]) => came).map(([uid]) => uid)
        this.asides = new Map(again.map((uid) => [uid, false]))
        for (const uid of again) this.want(uid)
      })
    ),
    Effect.forever
  )

  /** Waits until an account is wanted; takes all of them. */
  readonly take: Effect.Effect<{ readonly uids: ReadonlyArray<string>; readonly clientIds: ReadonlyArray<number> }> =
    Effect.suspend(() => this.wake.await).pipe(
      Effect.map(() => {
        this.wake.closeUnsafe()
        const taken = { uids: [...this.uids], clientIds: [...this.clientIds] }
        this.uids = new Set()
        this.clientIds = new Set()
        return taken
      })
    )
}
