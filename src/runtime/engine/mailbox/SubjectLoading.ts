/**
 * Subjects on their way into memory: those that are asked for while others are read are read together next. Those that a caller
 * waits for are read apart and in turns with the others, of which there can be very many: they wait for one reading at the most.
 */
import { Effect, Latch } from "effect"
import { type Journal, JournalUnavailable } from "../journal/Journal.ts"
import { withinTime } from "../withinTime.ts"
import type { Actor } from "./Actor.ts"
import { SubjectState } from "./SubjectState.ts"

/** Subjects read from the database in one go. */
const loadBatchLimit = 256

type Loaded = (actor: Actor, found: SubjectState | JournalUnavailable) => void

export class SubjectLoading {
  /** Those that a caller waits for, and the others, each in the order in which they came. */
  private readonly urgent = new Set<Actor>()
  private readonly others = new Set<Actor>()
  private wasUrgent = false
  private readonly work = Latch.makeUnsafe(false)
  private readonly journal: Pick<Journal["Service"], "load">
  private readonly loaded: Loaded

  /** `loaded` gets what was read of each, or why it was not. */
  constructor(journal: Pick<Journal["Service"], "load">, loaded: Loaded) {
    this.journal = journal
    this.loaded = loaded
  }

  load(actor: Actor): void {
    // It may wait among the others, and a caller come meanwhile.
    if (actor.loading && !this.others.has(actor)) return
    actor.loading = true
    if (isAwaited(actor)) {
      this.others.delete(actor)
      this.urgent.add(actor)
    } else this.others.add(actor)
    this.work.openUnsafe()
  }

  private next(): ReadonlyArray<Actor> {
    this.wasUrgent = this.urgent.size > 0 && !(this.wasUrgent && this.others.size > 0)
    const waiting = this.wasUrgent ? this.urgent : this.others
    const actors: Array<Actor> = []
    for (const actor of waiting) {
      if (actors.push(actor) === loadBatchLimit) break
    }
    for (const actor of actors) waiting.delete(actor)
    if (this.urgent.size + this.others.size === 0) this.work.closeUnsafe()
    return actors
  }

  /** Reads waiting subjects, many at a time, for ever. */
  readonly run: Effect.Effect<never> = Effect.suspend(() => this.work.await).pipe(
    Effect.andThen(
      Effect.suspend(() => {
        const actors = this.next()
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

const isAwaited = ({ readers, queue }: Actor): boolean =>
  readers.length > 0 || queue.some(({ command }) => command.lane !== "internal")
