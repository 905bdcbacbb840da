/**
 * A request that calls the venue under an Idempotency-Key: its first commit makes the call and claims the key for the object
 * it is of, the one that takes the call's end stores the answer and gives the claim back, or else one after it (A1-53). A
 * retry after a crash in between finds the object and ends what was begun, whatever the gates say by then. One that is never
 * retried has its key for 24 hours, as an answer would have; then AnswerSweep gives it back (A1-52).
 */
import { Effect } from "effect"
import { accept, refuse, type Verdict } from "../../../machines/shared/Refusal.ts"
import type {
  ActorHost,
  Attribution,
  ClaimLost,
  DispatchError,
  StoreAnswer,
  Turn
} from "../../engine/mailbox/ActorHost.ts"
import type { CommitBuilder, PartnerStamp } from "../../engine/journal/Commit.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import { clientSubject } from "../account/clientState.ts"
import type { KeyedRequest } from "../shared/KeyedRequest.ts"
import type { CallAnswers, Written } from "./CallAnswers.ts"
import type { VenueCalls } from "./VenueCalls.ts"

/** A write of one client, as its handler hands it over. */
export interface KeyedWrite<A> {
  readonly clientId: number
  readonly body: unknown
  readonly key: KeyedRequest | null
  readonly store: StoreAnswer<Verdict<A>>
}

export interface CallTools {
  readonly host: ActorHost["Service"]
  readonly stored: Pick<RowReads["Service"], "holders">
  readonly calls: Pick<VenueCalls["Service"], "known">
  readonly answers: CallAnswers["Service"]
}

/** What came of a call; `settle` is what else the last commit writes, null: nothing. */
export interface CallAnswer<A> {
  readonly verdict: Verdict<A>
  readonly settle: ((turn: Turn) => void) | null
}

export interface KeyedCall<A> {
  readonly clientId: number
  readonly by: Attribution
  readonly partner: () => PartnerStamp
  readonly key: KeyedRequest | null
  readonly store: StoreAnswer<Verdict<A>>
  /** Judges and makes the call, unless the key has begun one already; the id of the object that it is of. */
  readonly begin: (turn: Turn) => Verdict<number>
  /** The call's ref. */
  readonly refOf: (id: number) => string
  /** What the turn that takes the call's end answers; null: it does not say. */
  readonly inTurn: (turn: Turn, id: number) => Verdict<A> | null
  /** Once the call's end is known, or is not within its time. */
  readonly answer: (id: number) => Effect.Effect<CallAnswer<A>, DispatchError>
}

export const runCall = <A>(tools: CallTools, call: KeyedCall<A>): Effect.Effect<Verdict<A>, DispatchError> =>
  Effect.gen(function* () {
    const { host, calls, answers } = tools
    const { clientId, by, key, store, refOf, inTurn, answer } = call
    const subject = clientSubject(clientId)
    const begun = yield* beginOnce(tools, call)
    if (!begun.ok) return begun
    const ref = refOf(begun.value)
    if (key === null) yield* calls.known(clientId, [ref])
    else {
      const written = yield* answers.within(clientId, ref, (turn): Written<Verdict<A>> | null => {
        const value = inTurn(turn, begun.value)
        const row = value === null ? null : store.row(value, turn)
        if (value === null || row === null) return null
        releaseKey(turn.draft, key)
        return { value, row }
      })
      if (written !== null) {
        store.committed(written.row)
        return written.value
      }
    }
    const { verdict, settle } = yield* answer(begun.value)
    if (key === null && settle === null) return verdict
    return yield* host.dispatch({
      subject,
      by,
      decide: (turn) => {
        settle?.(turn)
        if (key !== null) releaseKey(turn.draft, key)
        return verdict
      },
      store
    })
  })

/**
 * The id of the object that the call is of, from this run or from an earlier one under the key. What an earlier one began is
 * looked for only where this one does not come to a commit: a key that is claimed or answered already refuses the commit, and
 * a refusal is stored under a key that nothing was begun with.
 */
const beginOnce = <A>(tools: CallTools, call: KeyedCall<A>): Effect.Effect<Verdict<number>, DispatchError> => {
  const { clientId, by, partner, key, store, begin } = call
  const dispatch = (storing: boolean): Effect.Effect<Verdict<number>, DispatchError> =>
    tools.host.dispatch<Verdict<number>>({
      subject: clientSubject(clientId),
      by,
      partner,
      decide: (turn) => {
        const id = begin(turn)
        if (id.ok && key !== null) claimKey(turn, key, id.value)
        return id
      },
      store: {
        row: (id, turn) => (id.ok || !storing ? null : store.row(id, turn)),
        committed: (row) => store.committed(row)
      }
    })
  if (key === null) return dispatch(true)
  const found = Effect.map(holderOf(tools.stored, key), (held) => (held === null ? null : verdictOf(held)))
  const begun = Effect.flatMap(dispatch(false), (first) => {
    if (first.ok) return Effect.succeed(first)
    return Effect.flatMap(found, (earlier) => (earlier === null ? dispatch(true) : Effect.succeed(earlier)))
  })
  return Effect.catchIf(begun, hasBegun(key), (lost) =>
    Effect.flatMap(found, (winner) => (winner === null ? Effect.fail(lost) : Effect.succeed(winner)))
  )
}

const verdictOf = (held: number | "other"): Verdict<number> =>
  held === "other" ? refuse({ _tag: "KeyReused" }) : accept(held)

const hasBegun =
  (key: KeyedRequest) =>
  (error: DispatchError): error is ClaimLost =>
    error._tag === "ClaimLost" && error.claims.some(({ name }) => name === keyName(key))

const keyName = ({ principal, key }: KeyedRequest): string => `request:${principal}:${key}`
/** A key has no space in it, so this is no key's. */
const requestName = (request: KeyedRequest): string => `${keyName(request)} ${request.fingerprint}`

/** The key belongs to the object; the fingerprint to the time, by which both are given back (AnswerStore.sweepBegun). */
const claimKey = ({ draft, now }: Turn, request: KeyedRequest, id: number): void => {
  draft.beginKey(request)
  draft.claim(keyName(request), id)
  draft.claim(requestName(request), now)
}

const releaseKey = (draft: CommitBuilder, request: KeyedRequest): void => {
  draft.release(keyName(request))
  draft.release(requestName(request))
}

const holderOf = (stored: CallTools["stored"], request: KeyedRequest) =>
  Effect.map(stored.holders([keyName(request), requestName(request)]), (held): number | "other" | null => {
    const object = held.find(({ name }) => name === keyName(request))
    if (object === undefined) return null
    return held.some(({ name }) => name === requestName(request)) ? object.owner : "other"
  })
