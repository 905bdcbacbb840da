/** The queue of accounts that are compared with the venue before their scheduled slice (A2-103). */
import { Effect, Latch } from "effect"
import { overdueMillis } from "../../../machines/contract/Contract.ts"
import type { ContractRow } from "../../tables/contract.ts"

/** Limit on the overdue contracts that are tracked for alarms. */
const overdueMost = 10_000

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

/** Contracts past their expiry, with one alarm for each. */
export class OverdueContracts {
  /** By contract id. The value is true once the alarm about the contract is logged. */
  private readonly logged = new Map<number, boolean>()
  /** Number of alarms since the start of this process. */
  alarms = 0

  /**
   * Whether a contract is overdue at `now` (Unix ms), so that its account is compared. The contract's timer repeats this every
   * minute until the venue reports an end.
   */
  follow({ id, state, context }: ContractRow, now: number): boolean {
    const isOverdue = state === "OPEN" && context.expiryTs + overdueMillis <= now
    if (!isOverdue) this.logged.delete(id)
    else if (!this.logged.has(id) && this.logged.size < overdueMost) this.logged.set(id, false)
    return isOverdue
  }

  /** Logs one alarm for each overdue contract. */
  readonly alarm: Effect.Effect<void> = Effect.suspend(() => {
    const fresh = [...this.logged].filter(([, isLogged]) => !isLogged).map(([id]) => id)
    for (const id of fresh) this.logged.set(id, true)
    this.alarms += fresh.length
    return Effect.forEach(
      fresh,
      (id) =>
        Effect.logError(
          "a contract is past its expiry, and the venue has reported no end; the account is compared each minute, and venue resolve can end the contract",
          `contract ${id}`
        ),
      { discard: true }
    )
  })
}
