/** Subjects on their way into memory: those that are asked for while others are read are read together next. */
import { Effect, Latch } from "effect"
import { type Journal, JournalUnavailable } from "../journal/Journal.ts"
import { withinTime } from "../withinTime.ts"
import type { Actor } from "./Actor.ts"
import { SubjectState } from "./SubjectState.ts"

/** Subjects read from the database in one go. */
const loadBatchLimit = 256

type Loaded = (actor: Actor, found: SubjectState | JournalUnavailable) => void

export class SubjectLoading {
  private readonly toLoad: Array<Actor> = []
  private readonly work = Latch.makeUnsafe(false)
  private readonly journal: Pick<Journal["Service"], "load">
  private readonly loaded: Loaded

  /** `loaded` gets what was read of each, or why it was not. */
  constructor(journal: Pick<Journal["Service"], "load">, loaded: Loaded) {
    this.journal = journal
    this.loaded = loaded
  }

  load(actor: Actor): void {
    if (actor.loading) return
    actor.loading = true
    this.toLoad.push(actor)
    this.work.openUnsafe()
  }

  /** Reads waiting subjects, many at a time, for ever. */
  readonly run: Effect.Effect<never> = Effect.suspend(() => this.work.await).pipe(
    Effect.andThen(
      Effect.suspend(() => {
        const actors = this.toLoad.splice(0, loadBatchLimit)
        if (this.toLoad.length === 0) this.work.closeUnsafe()
        const load = this.journal.load(actors.map((actor) => actor.subject))
        const none = (reason: string) => this.end(actors, () => new JournalUnavailable({ reason }))
        return withinTime(load, () => new JournalUnavailable({ reason: "the database hangs" })).pipe(
          Effect.match({
            onSuccess: (images) =>
              this.end(actors, ({ subject }) => {
                const image = images.get(subject)
                return image === undefined
                  ? new JournalUnavailable({ reason: "not read" })
                  : new SubjectState(subject, image)
              }),
            onFailure: ({ reason }) => none(reason)
          }),
          Effect.catchCause((cause) =>
            Effect.andThen(
              Effect.logError("subjects could not be read", cause),
              Effect.sync(() => none("not read"))
            )
          )
        )
      })
    ),
    Effect.forever({ disableYield: true })
  )

  private end(actors: ReadonlyArray<Actor>, found: (actor: Actor) => SubjectState | JournalUnavailable): void {
    for (const actor of actors) {
      actor.loading = false
      this.loaded(actor, found(actor))
    }
  }
}
