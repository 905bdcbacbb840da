/**
 * Loads subjects into memory. Requests that arrive during one read are combined in the next read. Reads of subjects
 * that a caller waits for (`urgent`) alternate with reads of subjects that no caller waits for (`others`), which may be
 * very many. So a caller waits for one read of `others` at most.
 */
import { Effect, Latch } from "effect"
import { firstOf } from "../../../machines/shared/Text.ts"
import type { SubjectKey } from "../journal/Commit.ts"
import { type Journal, JournalUnavailable, type SubjectImage } from "../journal/Journal.ts"
import { withinTime } from "../withinTime.ts"
import type { Actor } from "./Actor.ts"
import { SubjectState } from "./SubjectState.ts"

/**
 * The most subjects in one read. Decoding blocks the thread, so a read of `others`, for which no caller waits, is
 * short.
 */
const readAtOnce = { urgent: 256, others: 64 } as const
/** The most loaded subjects whose waiting commands run before other work gets its turn. */
const givenAtOnce = 16

type Loaded = (actor: Actor, found: SubjectState | JournalUnavailable) => void

export class SubjectLoading {
  /** Subjects that a caller waits for, and subjects that no caller waits for, each in the order of arrival. */
  private readonly urgent = new Set<Actor>()
  private readonly others = new Set<Actor>()
  private wasUrgent = false
  private readonly work = Latch.makeUnsafe(false)
  private readonly journal: Pick<Journal["Service"], "load">
  private readonly loaded: Loaded

  /** `loaded` gets the rows that were read of each subject, or the error. */
  constructor(journal: Pick<Journal["Service"], "load">, loaded: Loaded) {
    this.journal = journal
    this.loaded = loaded
  }

  load(actor: Actor): void {
    // The subject may already be in `others` when a caller arrives.
    if (actor.loading && !this.others.has(actor)) return
    actor.loading = true
    if (isAwaited(actor)) {
      this.others.delete(actor)
      this.urgent.add(actor)
    } else this.others.add(actor)
    this.work.openUnsafe()
  }

  private next(): Array<Actor> {
    this.wasUrgent = this.urgent.size > 0 && !(this.wasUrgent && this.others.size > 0)
    const waiting = this.wasUrgent ? this.urgent : this.others
    const limit = this.wasUrgent ? readAtOnce.urgent : readAtOnce.others
    const actors: Array<Actor> = []
    for (const actor of waiting) {
      if (actors.push(actor) === limit) break
    }
    for (const actor of actors) waiting.delete(actor)
    if (this.urgent.size + this.others.size === 0) this.work.closeUnsafe()
    return actors
  }

  /** Reads waiting subjects, many at a time, for ever. */
  readonly run: Effect.Effect<never> = Effect.suspend(() => this.work.await).pipe(
    // Subjects that are requested at the same time are read together: the first alone would cost its own statement.
    Effect.andThen(Effect.yieldNow),
    Effect.andThen(
      Effect.suspend(() => {
        const actors = this.next()
        const load = this.journal.load(actors.map((actor) => actor.subject))
        const none = (reason: string) => this.end(actors, actors.length, () => new JournalUnavailable({ reason }))
        return withinTime(load, () => new JournalUnavailable({ reason: "the database hangs" })).pipe(
          Effect.matchEffect({
            onSuccess: (images) => this.give(actors, images),
            onFailure: ({ reason }) => Effect.sync(() => none(reason))
          }),
          Effect.catchCause((cause) =>
            Effect.andThen(
              Effect.logError(
                `the rows of ${firstOf(
                  actors.map(({ subject }) => subject),
                  namedMost
                )} could not be read: requests that wait for them get 503`,
                cause
              ),
              Effect.sync(() => none("not read"))
            )
          )
        )
      })
    ),
    Effect.forever({ disableYield: true })
  )

  /** Continues the loaded subjects in slices, so that other work runs between them. */
  private give(actors: Array<Actor>, images: ReadonlyMap<SubjectKey, SubjectImage>): Effect.Effect<void> {
    const found = ({ subject }: Actor) => {
      const image = images.get(subject)
      return image === undefined ? new JournalUnavailable({ reason: "not read" }) : new SubjectState(subject, image)
    }
    return Effect.whileLoop({
      while: () => actors.length > 0,
      body: () => {
        this.end(actors, givenAtOnce, found)
        return actors.length > 0 ? Effect.yieldNow : Effect.void
      },
      step: () => undefined
    })
  }

  /** Removes each subject from the list before it continues. After a failure only the remaining subjects get the error. */
  private end(actors: Array<Actor>, most: number, found: (actor: Actor) => SubjectState | JournalUnavailable): void {
    for (const actor of actors.slice(0, most)) {
      actors.shift()
      actor.loading = false
      this.loaded(actor, found(actor))
    }
  }
}

/** A log line names at most this many subjects, and counts the others. */
const namedMost = 5

const isAwaited = ({ readers, queue }: Actor): boolean =>
  readers.length > 0 || queue.some(({ command }) => command.lane !== "internal")
