/**
 * A request that calls the venue under an Idempotency-Key: its first commit makes the call and claims the key for the object
 * it is of, the one that takes the call's end stores the answer and gives the claim back, or else one after it (A1-53). A retry after a crash in between finds the object
 * and ends what was begun, whatever the gates say by then.
 */
import { Effect } from "effect"
import { accept, conflict, refuse, type Verdict } from "../../../machines/shared/Refusal.ts"
import type { ActorHost, Attribution, DispatchError, StoreAnswer, Turn } from "../../engine/mailbox/ActorHost.ts"
import type { CommitBuilder, PartnerStamp } from "../../engine/journal/Commit.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import { clientSubject } from "../client/clientState.ts"
import type { KeyedRequest } from "../shared/KeyedRequest.ts"
import type { CallAnswers, Written } from "../venue/CallAnswers.ts"
import type { VenueCalls } from "../venue/VenueCalls.ts"

/** A write of one client, as its handler hands it over. */
export interface RfqWrite<A> {
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
  /** Judges and makes the call; the id of the object that it is of. */
  readonly begin: (turn: Turn) => Verdict<number>
  /** The call's ref. */
  readonly refOf: (id: number) => string
  /** What the turn that takes the call's end answers; null: it does not say. */
  readonly inTurn: (turn: Turn, id: number) => Verdict<A> | null
  /** Once the call's end is known, or is not within its time. */
  readonly answer: (id: number) => Effect.Effect<CallAnswer<A>, DispatchError>
}

export const runCall = <A>(
  { host, stored, calls, answers }: CallTools,
  { clientId, by, partner, key, store, begin, refOf, inTurn, answer }: KeyedCall<A>
): Effect.Effect<Verdict<A>, DispatchError> =>
  Effect.gen(function* () {
    const subject = clientSubject(clientId)
    const held = key === null ? null : yield* holderOf(stored, key)
    if (held === "other") return keyReused
    const begun =
      held !== null
        ? accept(held)
        : yield* host.dispatch<Verdict<number>>({
            subject,
            by,
            partner,
            decide: (turn) => {
              const id = begin(turn)
              if (id.ok && key !== null) claimKey(turn.draft, key, id.value)
              return id
            },
            store: (id, turn) => (id.ok ? null : store(id, turn))
          })
    if (!begun.ok) return begun
    const ref = refOf(begun.value)
    if (key === null) yield* calls.known(clientId, [ref])
    else {
      const written = yield* answers.within(clientId, ref, (turn): Written<Verdict<A>> | null => {
        const value = inTurn(turn, begun.value)
        const row = value === null ? null : store(value, turn)
        if (value === null || row === null) return null
        releaseKey(turn.draft, key)
        return { value, row }
      })
      if (written !== null) return written
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

const keyReused = refuse(conflict("This Idempotency-Key was used for another request."))

const keyName = ({ principal, key }: KeyedRequest): string => `request:${principal}:${key}`
/** A key has no space in it, so this is no key's. */
const requestName = (request: KeyedRequest): string => `${keyName(request)} ${request.fingerprint}`

const claimKey = (draft: CommitBuilder, request: KeyedRequest, id: number): void => {
  draft.claim(keyName(request), id)
  draft.claim(requestName(request), id)
}

const releaseKey = (draft: CommitBuilder, request: KeyedRequest): void => {
  draft.release(keyName(request))
  draft.release(requestName(request))
}

const holderOf = (stored: CallTools["stored"], request: KeyedRequest) =>
  Effect.map(stored.holders([keyName(request), requestName(request)]), (held): number | "other" | null => {
    const [first] = held
    if (first === undefined) return null
    return held.some(({ name }) => name === requestName(request)) ? first.owner : "other"
  })
