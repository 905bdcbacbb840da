/** The queue of accounts that are compared with the venue before their scheduled slice (A2-103). */
import { Effect, Latch } from "effect"

/** The most queued accounts. Any further account waits for its slice. */
const most = 10_000
/** The shortest time between two comparisons of an account because of quarantined events, ms. */
export const quarantinePause = 60_000

export class WantedAccounts {
  private uids = new Set<string>()
  private clientIds = new Set<number>()
  private readonly wake = Latch.makeUnsafe(false)
  /** Accounts with a quarantined event in the present pause. True: another event arrived since. */
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
   * Queues the account of a quarantined event. A bad stream may quarantine many events of an account, so the account is
   * compared at once, and again at the end of the pause only if more events arrived.
   */
  wantQuarantined(uid: string): void {
    if (this.asides.has(uid)) return void this.asides.set(uid, true)
    if (this.asides.size < most) this.asides.set(uid, false)
    this.want(uid)
  }

  /** Queues an account at the end of the present pause. */
  wantLater(uid: string): void {
    if (this.asides.size < most) this.asides.set(uid, true)
  }

  /**
   * Ends the pauses at equal intervals, in an endless loop. An account with further events is queued again and begins a new
   * pause.
   */
  readonly pauses: Effect.Effect<never> = Effect.sleep(quarantinePause).pipe(
    Effect.andThen(
      Effect.sync(() => {
        const again = [...this.asides].filter(([, came]) => came).map(([uid]) => uid)
        this.asides = new Map(again.map((uid) => [uid, false]))
        for (const uid of again) this.want(uid)
      })
    ),
    Effect.forever
  )

  /** Waits for a queued account, then takes all of them. */
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
