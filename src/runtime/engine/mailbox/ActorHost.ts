/**
 * Mailboxes and turns. Every subject (client, partner, system) has one mailbox. A turn decides on the committed state, and the
 * journal makes the result durable; only then is it adopted into memory, published to the projections and answered (output gate).
 * The next turn of the same subject starts after that; subjects never wait for each other.
 *
 * Turns run in callbacks, not in the caller's fiber: a caller that disconnects never interrupts between decision and commit. A
 * mailbox costs one object, and an idle subject runs no code.
 */
import { Context, Effect, Latch, Layer } from "effect"
import { type Facts, noFacts } from "../../../machines/market/Facts.ts"
import type { TableName, Tables } from "../../tables/Catalogue.ts"
import type { Actor, Envelope } from "./Actor.ts"
import { BusinessClock } from "../clock/BusinessClock.ts"
import { makeDefectLog } from "../DefectLog.ts"
import { type Commit, CommitBuilder, rowsOf, type SubjectKey } from "../journal/Commit.ts"
import { type CommitRows } from "../../tables/Catalogue.ts"
import type { Command, Turn } from "./Command.ts"
import { CommittedRows, type EndListener, type RowListener } from "./CommittedRows.ts"
import { type DispatchError, Unavailable } from "./DispatchError.ts"
import { currentDryRun } from "./dryRun.ts"
import { currentWritten } from "./written.ts"
import { InternalLane } from "./InternalLane.ts"
import { IdsExhausted } from "../journal/IdBlocks.ts"
import { Journal, JournalUnavailable, type Lane, type Outcome } from "../journal/Journal.ts"
import { Places } from "./Places.ts"
import { TurnHeld } from "./TurnHeld.ts"
import { passPausePoint } from "../PausePoints.ts"
import { Residents } from "./Residents.ts"
import { SubjectLoading } from "./SubjectLoading.ts"
import { type Check, type Projection, SubjectReads } from "./SubjectReads.ts"
import { SubjectState } from "./SubjectState.ts"
import { refusalOf, resultOf } from "./turnResults.ts"

export { CallerBarred, ClaimLost, CommitRejected, FactNeeded } from "./DispatchError.ts"
export { type DispatchError, Unavailable }
export { type Attribution, type Command, type StoreAnswer, storeNothing, type Turn } from "./Command.ts"

/** The most commands in one mailbox; a further command of a caller is refused. */
export const mailboxLimit = 1_024
/** The most decisions of one command whose partner or subject changes repeatedly. */
const redecideLimit = 8

export class ActorHost extends Context.Service<
  ActorHost,
  {
    /** Runs a command in its subject's mailbox. Completes after COMMIT with the value that `decide` returned. */
    dispatch<A>(command: Command<A>): Effect.Effect<A, DispatchError>
    /** Writes rows that belong to no subject (the stored answer of a refused request); default: for a caller. */
    record(rows: CommitRows, lane?: Lane): Effect.Effect<void, DispatchError>
    /**
     * The committed state of a subject, now. Never waits for running turns. If `project` throws `ForeignSubject`, it is called again
     * with an empty state, after the same work as for a subject that does not exist.
     */
    read<A>(subject: SubjectKey, project: Projection<A>): Effect.Effect<A, Unavailable>
    /**
     * As `read`, but calls `project` synchronously if the subject is in memory, without a fiber. The caller must run the effect at
     * once, and once.
     */
    readNow<A>(subject: SubjectKey, project: Projection<A>): Effect.Effect<A, Unavailable>
    /**
     * Calls `check` on the committed state now, after each commit of the subject, and after each reload. Completes with its
     * first result that is not null. Null after `millis` of wall time.
     */
    awaitCommitted<A>(subject: SubjectKey, check: Check<A>, millis: number): Effect.Effect<A | null, Unavailable>
    /** The current market facts, for views of rows that were read outside their mailbox. */
    readonly facts: () => Facts
    /**
     * Calls `listener` with every committed row of a table, after COMMIT and before the answer; listeners of a lower `place` run
     * first.
     */
    onCommitted<T extends TableName>(table: T, listener: RowListener<T>, place?: number): void
    /** Calls `policy` at the end of every turn that writes; its rows are part of the same commit. */
    onDecided(policy: (turn: Turn) => void, place?: number): void
    /** Calls `listener` with the ref of every venue call that a commit has ended, after COMMIT and before the answer. */
    onCallEnded(listener: EndListener, place?: number): void
    /** True while internal commands wait for room in the journal: less urgent work yields to them and to callers. */
    readonly pressed: () => boolean
    /** The numbers of subjects in memory and of waiting commands, for metrics and tests. */
    readonly stats: () => { readonly resident: number; readonly waiting: number }
    /** Waits until no command waits or runs. */
    readonly drain: Effect.Effect<void>
  }
>()("brokerage/runtime/engine/mailbox/ActorHost") {
  /** `residentLimit`: idle subjects kept in memory. `facts`: the current market; without it, turns see no market facts. */
  static readonly layer = (options: {
    readonly residentLimit: number
    readonly facts?: () => Facts
  }): Layer.Layer<ActorHost, never, Journal | BusinessClock> =>
    Layer.effect(
      ActorHost,
      Effect.gen(function* () {
        const host = new Host(
          yield* Journal,
          yield* BusinessClock,
          new CommittedRows(yield* makeDefectLog),
          new Residents(options.residentLimit),
          options.facts ?? (() => noFacts)
        )
        yield* Effect.forkScoped(host.loading.run)
        yield* Effect.forkScoped(host.lane.run)
        return ActorHost.of({
          dispatch: (command) => host.dispatch(command),
          record: (rows, lane) => host.record(rows, lane),
          read: (subject, project) => host.reads.read(subject, project),
          readNow: (subject, project) => host.reads.readNow(subject, project),
          awaitCommitted: (subject, check, millis) => host.reads.awaitCommitted(subject, check, millis),
          facts: host.facts,
          onCommitted: (table, listener, place = 0) => host.committed.listen(table, listener, place),
          onDecided: (policy, place = 0) => host.policies.add(policy, place),
          onCallEnded: (listener, place = 0) => host.committed.listenToEnds(listener, place),
          pressed: () => host.lane.isPressed,
          stats: () => ({ resident: host.residents.size, waiting: host.waiting }),
          drain: host.drain
        })
      })
    )
}

class Host {
  readonly residents: Residents
  readonly committed: CommittedRows
  readonly lane: InternalLane
  readonly loading: SubjectLoading
  readonly reads: SubjectReads
  readonly policies = new Places<(turn: Turn) => void>()
  waiting = 0
  private readonly quiet = Latch.makeUnsafe(true)
  private readonly journal: Journal["Service"]
  private readonly clock: BusinessClock["Service"]
  readonly facts: () => Facts

  constructor(
    journal: Journal["Service"],
    clock: BusinessClock["Service"],
    committed: CommittedRows,
    residents: Residents,
    facts: () => Facts
  ) {
    this.journal = journal
    this.clock = clock
    this.committed = committed
    this.residents = residents
    this.facts = facts
    this.lane = new InternalLane((actor) => this.pump(actor))
    this.loading = new SubjectLoading(journal, (actor, found) => this.loaded(actor, found))
    this.reads = new SubjectReads({ residents, journal, loading: this.loading, facts, limit: mailboxLimit })
  }

  dispatch<A>(command: Command<A>): Effect.Effect<A, DispatchError> {
    return Effect.callback<A, DispatchError>((resume) => {
      if (!this.journal.accepting(command.lane)) return resume(Effect.fail(new Unavailable({ unknown: false })))
      const actor = this.residents.get(command.subject)
      if (actor.queue.length >= mailboxLimit && command.lane !== "internal")
        return resume(Effect.fail(new Unavailable({ unknown: false })))
      actor.queue.push({
        command: command as Command<unknown>,
        resume: resume as Envelope["resume"],
        dryRun: currentDryRun(),
        written: currentWritten(),
        tries: 0
      })
      this.waiting++
      this.quiet.closeUnsafe()
      this.pump(actor)
    })
  }

  record(rows: CommitRows, lane?: Lane): Effect.Effect<void, DispatchError> {
    return Effect.callback<void, DispatchError>((resume) => {
      const commit: Commit = {
        fence: null,
        partner: null,
        claims: [],
        releases: [],
        rows,
        clearedTimers: [],
        endedCalls: []
      }
      const dryRun = currentDryRun()
      if (dryRun !== null) return resume(dryRun.drop(null, commit))
      this.waiting++
      this.quiet.closeUnsafe()
      const envelope = { resume: resume as Envelope["resume"] }
      const written = currentWritten()
      this.submit(commit, lane, (outcome) => {
        if (outcome._tag === "Committed") {
          this.committed.publish(commit)
          written?.add(commit)
        }
        this.settle(envelope, resultOf(outcome, undefined))
      })
    })
  }

  readonly drain: Effect.Effect<void> = Effect.suspend(() =>
    this.waiting === 0
      ? Effect.void
      : Effect.andThen(
          this.quiet.await,
          Effect.suspend(() => this.drain)
        )
  )

  private settle(envelope: Pick<Envelope, "resume">, result: Effect.Effect<unknown, DispatchError>): void {
    // The count decreases before the answer, because the answered caller continues at once and must not count as
    // waiting then.
    if (--this.waiting === 0) this.quiet.openUnsafe()
    envelope.resume(result)
  }

  private pump(actor: Actor): void {
    while (!actor.busy) {
      if (actor.queue.length === 0) {
        if (actor.state?.token === null) this.residents.forget(actor)
        return
      }
      if (actor.state === null) return this.loading.load(actor)
      const envelope = this.next(actor)
      if (envelope === undefined) return
      this.turn(actor, actor.state, envelope)
    }
  }

  /**
   * The next command of the mailbox; undefined when none can run now. An internal command that has to wait keeps its place, and
   * commands of callers overtake it.
   */
  private next(actor: Actor): Envelope | undefined {
    const { queue } = actor
    if (queue[0]?.command.lane !== "internal" || this.lane.admits(actor)) return queue.shift()
    const ofCaller = queue.findIndex(({ command }) => command.lane !== "internal")
    return ofCaller === -1 ? undefined : queue.splice(ofCaller, 1)[0]
  }

  private turn(actor: Actor, committed: SubjectState, envelope: Envelope): void {
    const { command, dryRun } = envelope
    const draft = new CommitBuilder()
    const state = dryRun?.stateOf(committed) ?? committed
    const nextId = dryRun?.nextId ?? this.journal.nextId
    const turn: Turn = { now: this.clock.now(), state, facts: this.facts(), draft, by: command.by, nextId }
    let value: unknown
    let stored: Tables["answers"] | null
    let commit: Commit
    try {
      const partner = command.partner?.() ?? null
      value = command.decide(turn)
      if (!draft.isEmpty) for (const policy of this.policies.items) policy(turn)
      stored = command.store?.row(value, turn) ?? null
      const { once } = command.by
      if (once !== undefined && !draft.isEmpty) draft.claim(once.name, once.owner)
      // A request that has a key but changes nothing is stored without a change of the subject's token.
      const fence = draft.isEmpty ? null : { subject: actor.subject, expected: state.token }
      if (stored !== null) draft.put("answers", stored)
      if (draft.isEmpty) return this.settle(envelope, Effect.succeed(value))
      commit = draft.build(fence, fence === null ? null : partner)
    } catch (error) {
      if (error instanceof IdsExhausted) return this.after(actor, envelope, this.journal.idsRefilled)
      if (error instanceof TurnHeld) {
        // A turn that only had to load rows has made progress, so the attempt does not count. A turn for many calls or events
        // may need many.
        if (error.reads) envelope.tries--
        return this.after(actor, envelope, error.released)
      }
      return this.settle(envelope, refusalOf(error))
    }
    if (dryRun !== null) return this.settle(envelope, Effect.as(dryRun.drop(state, commit), value))
    passPausePoint("after-decide")
    actor.busy = true
    this.submit(commit, command.lane, (outcome) => {
      actor.busy = false
      if (stored !== null && outcome._tag === "Committed") command.store?.committed(stored)
      this.conclude(actor, envelope, commit, value, outcome)
      this.pump(actor)
    })
  }

  /** Projections get every commit that succeeds, also one whose caller was answered with an unknown outcome. */
  private submit(commit: Commit, lane: Lane | undefined, first: (outcome: Outcome) => void): void {
    const rows = lane === "internal" ? rowsOf(commit) : 0
    this.lane.sent(rows)
    let settled = false
    const done = (outcome: Outcome): void => {
      if (settled) return outcome._tag === "Committed" ? this.late(commit) : undefined
      settled = true
      this.lane.settled(rows)
      first(outcome)
    }
    this.journal.submit(commit, done, lane)
  }

  /** Publishes a commit whose outcome was unknown and that proved to be committed. */
  private late(commit: Commit): void {
    this.committed.publish(commit)
    if (commit.fence !== null) this.reads.wake(this.residents.get(commit.fence.subject), commit)
  }

  private conclude(actor: Actor, envelope: Envelope, commit: Commit, value: unknown, outcome: Outcome): void {
    if (outcome._tag === "Committed") {
      actor.state?.adopt(commit)
      this.committed.publish(commit)
      envelope.written?.add(commit)
    }
    // On any doubt the state is dropped from memory and read again.
    if (outcome._tag === "Fenced" || (outcome._tag === "Unavailable" && outcome.unknown)) actor.state = null
    this.reads.wake(actor, outcome._tag === "Committed" ? commit : null)
    if (outcome._tag === "Fenced" || outcome._tag === "PartnerMoved") this.again(actor, envelope)
    else this.settle(envelope, resultOf(outcome, value))
  }

  private again(actor: Actor, envelope: Envelope): void {
    if (++envelope.tries > redecideLimit) return this.settle(envelope, Effect.fail(new Unavailable({ unknown: false })))
    actor.queue.unshift(envelope)
  }

  /** The turn needs something that is not available yet (an id, its partner): it keeps its place and is decided again. */
  private after(actor: Actor, envelope: Envelope, ready: Effect.Effect<void>): void {
    actor.busy = true
    this.again(actor, envelope)
    Effect.runFork(
      Effect.map(ready, () => {
        actor.busy = false
        this.pump(actor)
      })
    )
  }

  private loaded(actor: Actor, found: SubjectState | JournalUnavailable): void {
    const readers = actor.readers.splice(0)
    if (found instanceof SubjectState) {
      actor.state = found
      for (const reader of readers) reader(found)
      this.reads.wake(actor, null)
      return this.pump(actor)
    }
    this.residents.forget(actor)
    for (const reader of readers) reader(found)
    for (const envelope of actor.queue.splice(0))
      this.settle(envelope, Effect.fail(new Unavailable({ unknown: false })))
  }
}
