/**
 * Reads every known account again by its sequence after a loss of events, even an account without later events. The
 * checkpoint is not stored until all are read. So a process that crashes before that starts again before the loss
 * (A2-96).
 */
import { Effect, Latch } from "effect"
import type { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import type { AccountEvents } from "./AccountEvents.ts"
import type { QuarantineEntry } from "./venueQuarantine.ts"

const pageLength = 500
/** Limit on the accounts that are read at the same time. */
const atOnce = 32
/** The pause before failed reads are retried, ms. */
const againAfter = 1_000
/**
 * Limit on the attempts for one account, which take about five minutes. After them the account counts as read, and an alarm
 * is raised.
 */
const triesAtMost = 300

interface CatchUpParts {
  readonly stored: RowReads["Service"]
  readonly accounts: AccountEvents
  readonly apart: (what: QuarantineEntry) => Effect.Effect<void>
  /** Called each time all accounts have been read after a loss. */
  readonly caughtUp: () => void
}

export class CatchUp {
  private readonly parts: CatchUpParts
  private readonly requested = Latch.makeUnsafe(false)
  /**
   * Accounts that had events in progress at the loss. The database may have no rows of them yet, so they are read by name.
   */
  private readonly busy = new Set<string>()
  private wanted = 0
  private reached = 0

  constructor(parts: CatchUpParts) {
    this.parts = parts
  }

  /** True if every account has been read since the last loss. */
  get done(): boolean {
    return this.reached === this.wanted
  }

  /** Requests a read of all accounts after a loss of events. */
  request(): void {
    this.wanted++
    for (const account of this.parts.accounts.busy) this.busy.add(account)
    this.requested.openUnsafe()
  }

  /** Reads all accounts after a loss. A loss during the round starts another round. */
  readonly round: Effect.Effect<void> = Effect.suspend(() => this.requested.await).pipe(
    Effect.andThen(
      Effect.suspend(() => {
        this.requested.closeUnsafe()
        const { wanted } = this
        return this.readAll.pipe(
          // After a failure the round is requested again.
          Effect.onError(() => Effect.sync(() => this.requested.openUnsafe())),
          Effect.map(() => {
            this.reached = wanted
            if (this.done) this.parts.caughtUp()
          })
        )
      })
    )
  )

  private readonly readAll: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    const { wanted } = this
    const busy = [...this.busy]
    const late = yield* this.read(busy)
    for (const account of busy) this.busy.delete(account)
    for (let before: number | undefined; ;) {
      const ids = yield* this.insisting(this.page(before))
      if (ids.length === 0) break
      before = Math.min(...ids)
      const clients = yield* this.insisting(this.parts.stored.among("clients", ids))
      late.push(...(yield* this.read(clients.map(({ uid }) => uid))))
    }
    // Accounts that could not be read are retried after all others, so that they delay none.
    let rest: ReadonlyArray<string> = late
    for (let tries = 1; rest.length > 0; rest = yield* this.read(rest), tries++) {
      if (tries > triesAtMost) return yield* Effect.forEach(rest, (account) => this.giveUp(account), { discard: true })
      yield* Effect.sleep(againAfter)
      // Another loss has happened. The next round reads all accounts, so the rest of this round is not needed.
      if (this.wanted !== wanted) return
    }
  })

  /** A page of client ids with an account in the venue's events, highest first. */
  private page(before: number | undefined): Effect.Effect<ReadonlyArray<number>, Unavailable> {
    const query = { limit: pageLength, ...(before === undefined ? {} : { before }) }
    return Effect.map(this.parts.stored.page("venueAccounts", [], query), (rows) =>
      rows.map(({ clientId }) => clientId)
    )
  }

  /** Reads accounts. Returns those that could not be read. */
  private read(accounts: ReadonlyArray<string>): Effect.Effect<Array<string>> {
    return Effect.map(
      Effect.forEach(
        accounts,
        (account) =>
          this.parts.accounts.readWhole(account, this.parts.apart).pipe(
            Effect.as([]),
            Effect.catch(() => Effect.succeed([account]))
          ),
        { concurrency: atOnce }
      ),
      (late) => late.flat()
    )
  }

  /** Stops the attempts to read an account. One unreadable account must not hold the checkpoint back for ever. */
  private giveUp(account: string): Effect.Effect<void> {
    const reason = "an account could not be read again after a loss of events"
    return this.parts.apart({ bytes: JSON.stringify({ account }), reason, number: null, account })
  }

  private insisting<A>(work: Effect.Effect<A, Unavailable>): Effect.Effect<A> {
    return Effect.catch(work, () =>
      Effect.delay(
        Effect.suspend(() => this.insisting(work)),
        againAfter
      )
    )
  }
}
