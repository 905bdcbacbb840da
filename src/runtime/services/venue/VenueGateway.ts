/**
 * A request of a partner that calls the venue, from its first commit to its answer (A1-51..A1-53):
 *
 * 1. `begin`: one commit checks the request, starts the call, and claims the Idempotency-Key for the object of the
 *   call.
 * 2. `outcome`: the commit that applies the call's outcome stores the answer under the key and releases the claim.
 * 3. `end`: if that commit could not store the answer, a further commit does.
 *
 * A retry after a crash in between finds the object under the key and ends the request, whatever the gates would decide
 * by then. A request that is never retried keeps its key for 24 hours, as an answer would; then AnswerSweep releases
 * the key.
 */
import { Context, Effect, Layer } from "effect"
import { type JsonForm, type Refusing, renderVerdict } from "../../../machines/shared/answerText.ts"
import { accept, type Refusal, refuse, type Verdict } from "../../../machines/shared/Refusal.ts"
import {
  ActorHost,
  type ClaimLost,
  type DispatchError,
  storeNothing,
  type Turn,
  type Unavailable
} from "../../engine/mailbox/ActorHost.ts"
import type { Commit, CommitBuilder } from "../../engine/journal/Commit.ts"
import { TurnHeld } from "../../engine/mailbox/TurnHeld.ts"
import { ShortLivedMap } from "../../engine/ShortLivedMap.ts"
import { RowReads } from "../../ports/RowReads.ts"
import type { AnswerRow } from "../../tables/engine.ts"
import { clientSubject } from "../account/clientState.ts"
import type { Caller } from "../partners/Caller.ts"
import { Directory } from "../partners/Directory.ts"
import { AnswerKeeper, type KeyedRequest } from "../shared/KeyedRequest.ts"

/** Longest wait for the venue's answer, wall ms. */
export const answerWithin = 5_000

/** Limit on the attempts to commit a call's outcome together with its answer. Further attempts commit the outcome alone. */
const triesAtMost = 3

/** A request of a partner for one client that makes a call to the venue. */
export interface KeyedWrite {
  readonly clientId: number
  readonly body: unknown
  readonly key: KeyedRequest | null
  /** How the route renders a success. */
  readonly form: JsonForm
}

/** A verdict, with the row that stores it under the request's key; null: no row was stored. */
export interface Kept<A> {
  readonly verdict: Verdict<A>
  readonly row: AnswerRow | null
}

/** A refusal with nothing stored under the request's key, because no commit was made. */
export const unkept = (refusal: Refusal): Kept<never> => ({ verdict: refuse(refusal), row: null })

/** A call in flight whose caller waits for the answer. */
interface OpenCall {
  readonly answer: (turn: Turn) => Verdict<unknown> | null
  /** The verdict of the last turn that applied the call's outcome; null if that turn could not give one. */
  verdict: Verdict<unknown> | null
  tries: number
}

interface Tools {
  readonly host: ActorHost["Service"]
  readonly stored: Pick<RowReads["Service"], "holders">
  readonly directory: Pick<Directory["Service"], "stamp">
  readonly open: ShortLivedMap<string, OpenCall>
}

export class VenueGateway extends Context.Service<
  VenueGateway,
  {
    /** The steps of one request of a partner. `refusing`: the members that its route adds to a refusal. */
    request<A>(caller: Caller, write: Omit<KeyedWrite, "body">, refusing?: Refusing): VenueRequest<A>
    /** Stores the answer of the waiting caller, if there is one, in the turn that applies the call's outcome. */
    readonly take: (turn: Turn, ref: string) => void
  }
>()("brokerage/runtime/services/venue/VenueGateway") {
  static readonly layer = Layer.effect(
    VenueGateway,
    Effect.gen(function* () {
      const open = new ShortLivedMap<string, OpenCall>()
      const tools: Tools = { host: yield* ActorHost, stored: yield* RowReads, directory: yield* Directory, open }
      return VenueGateway.of({
        request: <A>(caller: Caller, write: Omit<KeyedWrite, "body">, refusing?: Refusing) =>
          new VenueRequest<A>(tools, caller, write, refusing),
        take: (turn, ref) => {
          const call = open.get(ref)
          if (call !== undefined && ++call.tries <= triesAtMost) call.verdict = answered(turn, call)
        }
      })
    })
  )
}

/**
 * The verdict for the caller that waits for this call. Null if the outcome is not known yet, or if `answer` fails,
 * for example because the caller may no longer read the object. In both cases the turn still applies the outcome.
 */
const answered = (turn: Turn, call: OpenCall): Verdict<unknown> | null => {
  try {
    return call.answer(turn)
  } catch (error) {
    if (error instanceof TurnHeld) throw error
    return null
  }
}

/** Waits at most 5 s until no call is in flight under these refs. False if some still are (A1-51: 502). */
export const callsEnded = (
  host: ActorHost["Service"],
  clientId: number,
  refs: ReadonlyArray<string>
): Effect.Effect<boolean, Unavailable> =>
  Effect.map(
    host.awaitCommitted(
      clientSubject(clientId),
      (state) => (refs.some((ref) => state.get("venueCalls", ref) !== undefined) ? null : true),
      answerWithin
    ),
    (ended) => ended ?? false
  )

export class VenueRequest<A> {
  private readonly tools: Tools
  private readonly caller: Caller
  private readonly clientId: number
  private readonly key: KeyedRequest | null
  /** Stores the answer under the request's key; null for a request without a key. */
  private readonly keeper: AnswerKeeper<Verdict<unknown>> | null

  constructor(tools: Tools, caller: Caller, { clientId, key, form }: Omit<KeyedWrite, "body">, refusing?: Refusing) {
    this.tools = tools
    this.caller = caller
    this.clientId = clientId
    this.key = key
    this.keeper = key === null ? null : new AnswerKeeper(key, (verdict) => renderVerdict(form, verdict, refusing))
  }

  /**
   * Begins the request. Returns the id of the object of the call, from this run or from an earlier run under the key.
   * `decide` checks the request and starts the call. An earlier run is looked up only if this one is refused or its
   * commit fails on the key. A refusal is stored under the key only if no earlier run exists.
   */
  begin(decide: (turn: Turn) => Verdict<number>): Effect.Effect<Verdict<number>, DispatchError> {
    const { key } = this
    if (key === null) return this.judge(decide, false)
    const found = Effect.map(holderOf(this.tools.stored, key), (held) => (held === null ? null : verdictOf(held)))
    const begun = Effect.flatMap(this.judge(decide, false), (first) => {
      if (first.ok) return Effect.succeed(first)
      return Effect.flatMap(found, (earlier) => (earlier === null ? this.judge(decide, true) : Effect.succeed(earlier)))
    })
    return Effect.catchIf(begun, hasBegun(key), (lost) =>
      Effect.flatMap(found, (winner) => (winner === null ? Effect.fail(lost) : Effect.succeed(winner)))
    )
  }

  /** The refusal of `begin`, with the row that stores it. */
  refused(verdict: Verdict<never>): Kept<A> {
    return { verdict, row: this.keeper?.stored ?? null }
  }

  /**
   * Waits for the end of the call, at most 5 s. `answer` returns the verdict in the turn that applies the outcome, or
   * null if it is not known there. Returns null if that commit stored no answer.
   */
  outcome(ref: string, answer: (turn: Turn) => Verdict<A> | null): Effect.Effect<Kept<A> | null, Unavailable> {
    const { key, clientId } = this
    const { host, open } = this.tools
    if (key === null) return Effect.as(callsEnded(host, clientId, [ref]), null)
    const call: OpenCall = { answer: (turn) => this.answerIn(turn, key, answer), verdict: null, tries: 0 }
    return Effect.suspend(() => {
      open.set(ref, call)
      const ended = host.awaitCommitted(
        clientSubject(clientId),
        (state, commit) => (state.get("venueCalls", ref) === undefined ? { row: answerIn(commit, key) } : null),
        answerWithin
      )
      const close = Effect.sync(() => {
        if (open.get(ref) === call) open.delete(ref)
      })
      return Effect.map(Effect.ensuring(ended, close), (end): Kept<A> | null => {
        const row = end?.row ?? null
        return row === null || call.verdict === null ? null : { verdict: call.verdict as Verdict<A>, row }
      })
    })
  }

  /** Stores the verdict in a commit of its own. `settle`: the further writes of that commit. */
  end(verdict: Verdict<A>, settle: ((turn: Turn) => void) | null = null): Effect.Effect<Kept<A>, DispatchError> {
    const { key, keeper } = this
    if (key === null && settle === null) return Effect.succeed({ verdict, row: null })
    return Effect.map(
      this.tools.host.dispatch<Verdict<A>>({
        subject: clientSubject(this.clientId),
        by: this.caller.by,
        decide: (turn) => {
          settle?.(turn)
          if (key !== null) releaseKey(turn.draft, key)
          return verdict
        },
        store: keeper ?? storeNothing
      }),
      () => ({ verdict, row: keeper?.stored ?? null })
    )
  }

  /** Runs the first turn of the request. `storing`: true if a refusal is stored under the key. */
  private judge(
    decide: (turn: Turn) => Verdict<number>,
    storing: boolean
  ): Effect.Effect<Verdict<number>, DispatchError> {
    const { key, keeper, caller } = this
    return this.tools.host.dispatch<Verdict<number>>({
      subject: clientSubject(this.clientId),
      by: caller.by,
      partner: () => this.tools.directory.stamp(caller.partner.row.id),
      decide: (turn) => {
        const id = decide(turn)
        if (id.ok && key !== null) claimKey(turn, key, id.value)
        return id
      },
      store: {
        row: (id, turn) => (id.ok || !storing || keeper === null ? null : keeper.row(id, turn)),
        committed: (row) => keeper?.committed(row)
      }
    })
  }

  /** Stores the answer in the turn and returns it. Null: it is not known yet, or is of a kind that is not stored. */
  private answerIn(turn: Turn, key: KeyedRequest, answer: (turn: Turn) => Verdict<A> | null): Verdict<A> | null {
    const verdict = answer(turn)
    const row = verdict === null ? null : (this.keeper?.row(verdict, turn) ?? null)
    if (row === null) return null
    releaseKey(turn.draft, key)
    turn.draft.put("answers", row)
    return verdict
  }
}

/** The answer that a commit stored under the key. A key has at most one answer. */
const answerIn = (commit: Commit | null, { principal, key }: KeyedRequest): AnswerRow | null =>
  commit?.rows.answers?.find((row) => row.principal === principal && row.key === key) ?? null

const verdictOf = (held: number | "other"): Verdict<number> =>
  held === "other" ? refuse({ _tag: "KeyReused" }) : accept(held)

const hasBegun =
  (key: KeyedRequest) =>
  (error: DispatchError): error is ClaimLost =>
    error._tag === "ClaimLost" && error.claims.some(({ name }) => name === keyName(key))

const keyName = ({ principal, key }: KeyedRequest): string => `request:${principal}:${key}`
/** The name of the second claim of a request. The space in it keeps it apart from every key. */
const requestName = (request: KeyedRequest): string => `${keyName(request)} ${request.fingerprint}`

/**
 * Claims the key for the object. A second claim, named by key and fingerprint, holds the time at which
 * AnswerStore.sweepBegun releases both.
 */
const claimKey = ({ draft, now }: Turn, request: KeyedRequest, id: number): void => {
  draft.beginKey(request)
  draft.claim(keyName(request), id)
  draft.claim(requestName(request), now)
}

const releaseKey = (draft: CommitBuilder, request: KeyedRequest): void => {
  draft.release(keyName(request))
  draft.release(requestName(request))
}

const holderOf = (stored: Tools["stored"], request: KeyedRequest) =>
  Effect.map(stored.holders([keyName(request), requestName(request)]), (held): number | "other" | null => {
    const object = held.find(({ name }) => name === keyName(request))
    if (object === undefined) return null
    return held.some(({ name }) => name === requestName(request)) ? object.owner : "other"
  })
