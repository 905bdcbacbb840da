/**
 * Callers who wait for what becomes of a call of the venue, and are answered in the turn that takes its end: the answer under
 * their Idempotency-Key is of that very commit, so no commit of its own follows (A1-51, A1-53). Where the turn can't answer,
 * or its commit was made without the answer, the caller finds out the usual way.
 */
import { Context, Deferred, Effect, Layer } from "effect"
import { ActorHost, type Turn, type Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { Commit } from "../../engine/journal/Commit.ts"
import { TurnHeld } from "../../engine/mailbox/TurnHeld.ts"
import { ShortLivedMap } from "../../engine/ShortLivedMap.ts"
import type { Tables } from "../../tables/Catalogue.ts"
import { subscribeToEndedCalls } from "../../subscriptions.ts"
import { clientSubject } from "../account/clientState.ts"

/** Longest wait for the venue's answer, wall ms. */
export const answerWithin = 5_000

/** What a caller is answered, and the row that a retry is answered from. */
export interface Written<A> {
  readonly value: A
  readonly row: Tables["answers"]
}

interface Waiter {
  readonly answer: (turn: Turn) => Written<unknown> | null
  readonly done: (written: Written<unknown> | null) => void
  written: Written<unknown> | null
  tries: number
}

/** Decisions of a turn that an answer is part of: one whose commit fails again and again goes on without it. */
const triesAtMost = 3

export class CallAnswers extends Context.Service<
  CallAnswers,
  {
    /**
     * Waits until nothing is in flight under a ref, at most 5 s; the answer that was written in the turn that took its end,
     * or null. `answer` puts nothing but what belongs to the answer into the turn's draft.
     */
    within<A>(
      clientId: number,
      ref: string,
      answer: (turn: Turn) => Written<A> | null
    ): Effect.Effect<Written<A> | null, Unavailable>
    /** The turn takes the end of the call: whoever waits for it is answered. */
    readonly take: (turn: Turn, ref: string) => void
  }
>()("brokerage/runtime/services/venue/CallAnswers") {
  static readonly layer = Layer.effect(
    CallAnswers,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const waiters = new ShortLivedMap<string, Waiter>()
      subscribeToEndedCalls(host, "CallAnswers", (ref, commit) => {
        const waiter = waiters.get(ref)
        if (waiter === undefined) return
        waiters.delete(ref)
        waiter.done(waiter.written !== null && isAnswered(commit, waiter.written.row) ? waiter.written : null)
      })
      const wait = <A>(
        clientId: number,
        ref: string,
        answer: Waiter["answer"]
      ): Effect.Effect<Written<A> | null, Unavailable> =>
        Effect.suspend(() => {
          const ended = Deferred.makeUnsafe<Written<A> | null>()
          const waiter: Waiter = {
            answer,
            done: (made) => Deferred.doneUnsafe(ended, Effect.succeed(made as Written<A> | null)),
            written: null,
            tries: 0
          }
          waiters.set(ref, waiter)
          const isOpen = host.readNow(clientSubject(clientId), (state) => state.get("venueCalls", ref) !== undefined)
          // One that ended before anybody waited is not waited for.
          return Effect.flatMapEager(isOpen, (open) => (open ? Deferred.await(ended) : Effect.succeed(null))).pipe(
            Effect.ensuring(
              Effect.sync(() => {
                if (waiters.get(ref) === waiter) waiters.delete(ref)
              })
            )
          )
        })
      return CallAnswers.of({
        within: <A>(clientId: number, ref: string, answer: (turn: Turn) => Written<A> | null) =>
          Effect.timeoutOrElse(wait<A>(clientId, ref, answer), {
            duration: answerWithin,
            orElse: () => Effect.succeed(null)
          }),
        take: (turn, ref) => {
          const waiter = waiters.get(ref)
          if (waiter !== undefined && ++waiter.tries <= triesAtMost) waiter.written = written(turn, waiter)
        }
      })
    })
  )
}

/** Null also where the caller may not be answered any more: the end of the call is taken all the same. */
const written = (turn: Turn, { answer }: Waiter): Written<unknown> | null => {
  try {
    const made = answer(turn)
    if (made !== null) turn.draft.put("answers", made.row)
    return made
  } catch (error) {
    if (error instanceof TurnHeld) throw error
    return null
  }
}

/** A key has one answer, so the row of the key that a commit has is the answer. */
const isAnswered = ({ rows }: Commit, { principal, key }: Tables["answers"]): boolean =>
  rows.answers?.some((row) => row.principal === principal && row.key === key) === true
