/** Reads of a subject's committed state, now or once it satisfies its reader. They take no turn and wait for none. */
import { Effect } from "effect"
import type { Facts } from "../../../machines/market/Facts.ts"
import type { Commit, SubjectKey } from "../journal/Commit.ts"
import type { Journal, JournalUnavailable } from "../journal/Journal.ts"
import { Waits } from "../Waits.ts"
import { type Actor, newActor } from "./Actor.ts"
import { Unavailable } from "./DispatchError.ts"
import { currentDryRun } from "./dryRun.ts"
import { ForeignSubject } from "./ForeignSubject.ts"
import type { Residents } from "./Residents.ts"
import type { SubjectLoading } from "./SubjectLoading.ts"
import { noState, SubjectState } from "./SubjectState.ts"

/** Derives a value from a subject's committed state and from the market of the same moment. */
export type Projection<A> = (state: SubjectState, facts: Facts) => A

/**
 * Checks a subject's state; null: not satisfied yet. `commit`: the commit that led to this state; null if the state was read or
 * loaded.
 */
export type Check<A> = (state: SubjectState, commit: Commit | null) => A | null

interface Committed {
  readonly state: SubjectState
  readonly commit: Commit | null
}

interface Parts {
  readonly residents: Residents
  readonly journal: Pick<Journal["Service"], "certain">
  readonly loading: SubjectLoading
  readonly facts: () => Facts
  /** Limit on the readers of one subject. */
  readonly limit: number
}

const unavailable = Effect.fail(new Unavailable({ unknown: false }))

/** The state that a read sees. Inside a dry run, it includes the changes of the request's earlier turns. */
const seen = (state: SubjectState): SubjectState => currentDryRun()?.stateOf(state) ?? state

export class SubjectReads {
  private readonly parts: Parts
  private readonly waits: Waits<SubjectKey, Committed>

  constructor(parts: Parts) {
    this.parts = parts
    this.waits = new Waits(parts.limit)
  }

  read<A>(subject: SubjectKey, project: Projection<A>): Effect.Effect<A, Unavailable> {
    const { journal, residents } = this.parts
    if (!journal.certain()) return unavailable
    const actor = residents.get(subject)
    const { state } = actor
    if (state !== null) return Effect.suspend(() => this.project(state, project))
    return this.reading(actor, (found) => this.project(found, project, true))
  }

  readNow<A>(subject: SubjectKey, project: Projection<A>): Effect.Effect<A, Unavailable> {
    const { journal, residents } = this.parts
    const { state } = residents.get(subject)
    return state === null || !journal.certain() ? this.read(subject, project) : this.project(state, project)
  }

  awaitCommitted<A>(subject: SubjectKey, check: Check<A>, millis: number): Effect.Effect<A | null, Unavailable> {
    return Effect.suspend(() => {
      if (this.waits.isFull(subject)) return unavailable
      const now = this.readNow(subject, (state) => check(state, null))
      return this.waits.until(subject, now, ({ state, commit }) => check(state, commit), millis)
    })
  }

  /**
   * Passes the subject's state to the callers that wait for it: after `commit`, or after a load (null). A state that was
   * dropped is loaded first.
   */
  wake(actor: Actor, commit: Commit | null): void {
    const { subject, state } = actor
    if (!this.waits.has(subject)) return
    if (state === null) this.parts.loading.load(actor)
    else this.waits.publish(subject, { state, commit })
  }

  /**
   * Runs a read on a state. `isFresh`: the state was loaded for this read. A foreign subject must cost the same as
   * one that does not exist. So if `isFresh` is false, the foreign subject is loaded again outside its mailbox.
   */
  private project<A>(state: SubjectState, project: Projection<A>, isFresh = false): Effect.Effect<A, Unavailable> {
    const { facts } = this.parts
    try {
      return Effect.succeed(project(seen(state), facts()))
    } catch (error) {
      if (!(error instanceof ForeignSubject)) return Effect.die(error)
      const absent = Effect.sync(() => project(noState(state.subject), facts()))
      return isFresh ? absent : this.reading(newActor(state.subject), () => absent)
    }
  }

  private reading<A>(
    actor: Actor,
    shown: (state: SubjectState) => Effect.Effect<A, Unavailable>
  ): Effect.Effect<A, Unavailable> {
    return Effect.callback<A, Unavailable>((resume) => {
      const settle = (found: SubjectState | JournalUnavailable) =>
        resume(found instanceof SubjectState ? Effect.suspend(() => shown(found)) : unavailable)
      if (actor.state !== null) return settle(actor.state)
      if (actor.readers.length >= this.parts.limit) return resume(unavailable)
      actor.readers.push(settle)
      this.parts.loading.load(actor)
    })
  }
}
