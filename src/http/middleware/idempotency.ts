/**
 * At most one execution per partner and Idempotency-Key, and the same bytes for every retry (doc 1, Idempotency;
 * A1-51..A1-53). A key is claimed in memory before its request runs; the commit that ends the request stores the answer
 * and is itself the durable claim: a commit that finds the key taken (earlier process, crash) is refused by the
 * database, and the stored answer is told instead. So a fresh key costs no look-up.
 */
import canonicalize from "canonicalize"
import { Effect } from "effect"
import { hash } from "node:crypto"
import { idempotency } from "../../machines/shared/Limits.ts"
import type { ClaimLost, DispatchError, StoreAnswer } from "../../runtime/engine/ActorHost.ts"
import type { BusinessClock } from "../../runtime/engine/BusinessClock.ts"
import { answerClaim } from "../../runtime/engine/Commit.ts"
import { passPausePoint } from "../../runtime/engine/PausePoints.ts"
import type { AnswerStore } from "../../runtime/store/AnswerStore.ts"
import type { AnswerRow } from "../../runtime/store/Rows.ts"
import { gateRefusals, refusalText, type WireRefusal } from "../toWire.ts"
import { type RecentAnswer, RecentAnswers } from "./RecentAnswers.ts"

/** A rendered answer: the status and the exact text of the body. */
export interface Rendered {
  readonly status: number
  readonly body: string
}

/** What a caller gets: `replayed` when the request did not run now. */
export interface KeyedAnswer extends Rendered {
  readonly replayed: boolean
}

export interface KeyedRequest {
  readonly partnerId: number
  readonly key: string
  readonly fingerprint: string
}

/** The header's shape: printable ASCII, 1 to 128 (A1-52). Sent twice, Node joins it with ", ", which has a space. */
export const isIdempotencyKey = (header: string): boolean => /^[\x21-\x7e]{1,128}$/.test(header)

/** What makes two requests the same: method, path and canonical JSON (RFC 8785), as SHA-256 in hex (A1-52). */
export const fingerprintOf = (method: string, path: string, body: unknown): string =>
  hash("sha256", `${method}\n${path}\n${canonicalize(body) ?? ""}`, "hex")

const rendered = (refusal: WireRefusal): KeyedAnswer => ({
  status: refusal.status,
  body: refusalText(refusal),
  replayed: false
})

type Settled = RecentAnswer | null

interface InFlight {
  readonly fingerprint: string
  readonly waiters: Set<(answer: Settled) => void>
}

/** Makes answer rows for one request and remembers the last, so that what was committed is what is sent. */
export class AnswerSlot {
  readonly request: KeyedRequest
  private kept: { readonly value: unknown; readonly row: AnswerRow } | null = null

  constructor(request: KeyedRequest) {
    this.request = request
  }

  row({ status, body }: Rendered, now: number): AnswerRow {
    return { ...this.request, status, body, answeredAt: now }
  }

  /** The closure a service stores its verdict with: renders once, in the turn that ends the request. */
  storing<A>(render: (value: A) => Rendered): StoreAnswer<A> {
    return (value, turn) => {
      const row = this.row(render(value), turn.now)
      this.kept = { value, row }
      return row
    }
  }

  /** The row made for exactly this value; null when the service answered without storing. */
  rowOf(value: unknown): AnswerRow | null {
    return this.kept !== null && this.kept.value === value ? this.kept.row : null
  }
}

export interface IdempotencyOptions {
  readonly answers: Pick<AnswerStore["Service"], "find" | "discardExpired">
  readonly clock: Pick<BusinessClock["Service"], "now">
  /** How long a second request waits for the first one's answer, wall milliseconds. */
  readonly waitMillis?: number
}

/** Runs that find their key taken by an answer that has just expired, before giving up. */
const rerunLimit = 3

export class Idempotency {
  private readonly inFlight = new Map<string, InFlight>()
  private readonly recent = new RecentAnswers()
  private readonly options: IdempotencyOptions
  private readonly waitMillis: number

  constructor(options: IdempotencyOptions) {
    this.options = options
    this.waitMillis = options.waitMillis ?? idempotency.waitMillis
  }

  /**
   * Answers a keyed request: by replay, by waiting for the same request, or by running `execute`, whose answer is the
   * stored one. A failure of `execute` gives the key back.
   */
  answer(
    request: KeyedRequest,
    execute: (slot: AnswerSlot) => Effect.Effect<AnswerRow, DispatchError>
  ): Effect.Effect<KeyedAnswer, DispatchError> {
    return this.enter(request, execute, performance.now() + this.waitMillis)
  }

  private enter(
    request: KeyedRequest,
    execute: (slot: AnswerSlot) => Effect.Effect<AnswerRow, DispatchError>,
    deadline: number
  ): Effect.Effect<KeyedAnswer, DispatchError> {
    const name = `${request.partnerId} ${request.key}`
    const running = this.inFlight.get(name)
    if (running !== undefined) {
      if (running.fingerprint !== request.fingerprint) return Effect.succeed(rendered(gateRefusals.keyReused))
      return Effect.flatMap(waitFor(running, deadline), (settled) => {
        if (settled === "late") return Effect.succeed(rendered(gateRefusals.inProgress))
        return settled === null ? this.enter(request, execute, deadline) : Effect.succeed(replay(settled, request))
      })
    }
    const known = this.recent.get(name)
    if (known !== undefined) {
      if (!this.expired(known)) return Effect.succeed(replay(known, request))
      this.recent.delete(name)
    }
    const entry: InFlight = { fingerprint: request.fingerprint, waiters: new Set() }
    this.inFlight.set(name, entry)
    passPausePoint("after-claim")
    // A caller that hangs up interrupts its fiber; the run goes on to its end, or the key would never be settled.
    return Effect.uninterruptible(
      Effect.matchCauseEffect(this.run(request, execute, rerunLimit), {
        onSuccess: ({ row, answer }) => {
          if (row !== null) this.recent.set(name, row)
          this.settle(name, entry, row)
          return Effect.succeed(answer)
        },
        onFailure: (cause) => {
          this.settle(name, entry, null)
          return Effect.failCause(cause)
        }
      })
    )
  }

  /** Runs the request; an answer found in the database instead is replayed, or thrown away when it has expired. */
  private run(
    request: KeyedRequest,
    execute: (slot: AnswerSlot) => Effect.Effect<AnswerRow, DispatchError>,
    tries: number
  ): Effect.Effect<{ readonly row: RecentAnswer | null; readonly answer: KeyedAnswer }, DispatchError> {
    return Effect.matchEffect(execute(new AnswerSlot(request)), {
      onSuccess: (row) => Effect.succeed({ row, answer: { status: row.status, body: row.body, replayed: false } }),
      onFailure: (error) => {
        if (tries === 0 || !lostAnswer(error, request)) return Effect.fail(error)
        return Effect.flatMap(this.options.answers.find(request.partnerId, request.key), (stored) => {
          if (stored === null) return this.run(request, execute, tries - 1)
          if (!this.expired(stored)) return Effect.succeed({ row: stored, answer: replay(stored, request) })
          const cutoff = this.options.clock.now() - idempotency.replayMillis
          return Effect.andThen(
            this.options.answers.discardExpired(request.partnerId, request.key, cutoff),
            this.run(request, execute, tries - 1)
          )
        })
      }
    })
  }

  /** 24 hours after the first answer the key is free again. */
  private expired(answer: RecentAnswer): boolean {
    return this.options.clock.now() - answer.answeredAt >= idempotency.replayMillis
  }

  private settle(name: string, entry: InFlight, answer: Settled): void {
    this.inFlight.delete(name)
    for (const waiter of entry.waiters) waiter(answer)
  }
}

const lostAnswer = (error: DispatchError, { partnerId, key }: KeyedRequest): error is ClaimLost =>
  error._tag === "ClaimLost" && error.claims.some((claim) => claim.name === answerClaim(partnerId, key))

const replay = (answer: RecentAnswer, request: KeyedRequest): KeyedAnswer =>
  answer.fingerprint === request.fingerprint
    ? { status: answer.status, body: answer.body, replayed: true }
    : rendered(gateRefusals.keyReused)

/** The answer of a running request; null when its key was given back; "late" after the deadline. */
const waitFor = (entry: InFlight, deadline: number): Effect.Effect<Settled | "late"> =>
  Effect.callback<Settled | "late">((resume) => {
    const done = (answer: Settled | "late"): void => {
      clearTimeout(timer)
      entry.waiters.delete(done)
      resume(Effect.succeed(answer))
    }
    const timer = setTimeout(() => done("late"), Math.max(0, deadline - performance.now()))
    entry.waiters.add(done)
    return Effect.sync(() => {
      clearTimeout(timer)
      entry.waiters.delete(done)
    })
  })
