/**
 * After events that the venue does not give any more: every account that it has spoken of is read again by its sequence, also
 * one of which nothing is said afterwards. Until that is done the mark is not stored, so that a process that dies begins
 * before the loss again (A2-96).
 */
import { Effect, Latch } from "effect"
import type { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import type { AccountEvents } from "./AccountEvents.ts"
import type { SetAside } from "./venueQuarantine.ts"

const pageLength = 500
/** Accounts that are read side by side. */
const atOnce = 32
/** Before those that could not be read are read again, ms. */
const againAfter = 1_000
/** Tries of an account until it counts as read, with an alarm: some five minutes. */
const triesAtMost = 300

interface CatchUpParts {
  readonly stored: RowReads["Service"]
  readonly accounts: AccountEvents
  readonly apart: (what: SetAside) => Effect.Effect<void>
  /** Called each time that nothing is left to be read. */
  readonly caughtUp: () => void
}

export class CatchUp {
  private readonly parts: CatchUpParts
  private readonly asked = Latch.makeUnsafe(false)
  /** Those with something on its way when events were lost: what the database has of them may not be there yet. */
  private readonly busy = new Set<string>()
  private wanted = 0
  private reached = 0

  constructor(parts: CatchUpParts) {
    this.parts = parts
  }

  /** Every account has been read since the last loss. */
  get done(): boolean {
    return this.reached === this.wanted
  }

  /** Events are lost: all accounts are to be read. */
  ask(): void {
    this.wanted++
    for (const account of this.parts.accounts.busy) this.busy.add(account)
    this.asked.openUnsafe()
  }

  /** One loss; those that come meanwhile are another. */
  readonly round: Effect.Effect<void> = Effect.suspend(() => this.asked.await).pipe(
    Effect.andThen(
      Effect.suspend(() => {
        this.asked.closeUnsafe()
        const { wanted } = this
        return this.readAll.pipe(
          // What broke it off is tried again.
          Effect.onError(() => Effect.sync(() => this.asked.openUnsafe())),
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
    // Those that could not be read keep nobody else waiting.
    let rest: ReadonlyArray<string> = late
    for (let tries = 1; rest.length > 0; rest = yield* this.read(rest), tries++) {
      if (tries > triesAtMost) return yield* Effect.forEach(rest, (account) => this.giveUp(account), { discard: true })
      yield* Effect.sleep(againAfter)
      // Another loss: the next round reads all accounts, these too.
      if (this.wanted !== wanted) return
    }
  })

  /** Ids of clients with an account that the venue has spoken of, highest first. */
  private page(before: number | undefined): Effect.Effect<ReadonlyArray<number>, Unavailable> {
    const query = { limit: pageLength, ...(before === undefined ? {} : { before }) }
    return Effect.map(this.parts.stored.page("venueAccounts", [], query), (rows) =>
      rows.map(({ clientId }) => clientId)
    )
  }

  /** The accounts that could not be read now. */
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

  /** One account that can't be read must not keep the cursor back for good. */
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
