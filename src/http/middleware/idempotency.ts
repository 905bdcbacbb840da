/**
 * Runs a request at most once per principal and Idempotency-Key, and answers every retry with the same bytes. A key is taken
 * in memory before its request runs. The commit that ends the request stores the answer, and this row is the durable claim:
 * the database refuses a commit whose key is taken (by an earlier process, before a crash), and the stored answer is sent
 * instead. So a new key costs no query (doc 1, Idempotency; A1-51, A1-52, A1-53).
 */
import canonicalize from "canonicalize"
import { Effect } from "effect"
import { hash } from "node:crypto"
import { isPlain, isWhole, parseExact, withoutSpace } from "../../machines/shared/exactJson.ts"
import type { Rendered } from "../../machines/shared/answerText.ts"
import { idempotency } from "../../machines/shared/Limits.ts"
import { ClaimLost, type DispatchError } from "../../runtime/engine/mailbox/ActorHost.ts"
import type { BusinessClock } from "../../runtime/engine/clock/BusinessClock.ts"
import { answerClaim } from "../../runtime/engine/journal/Commit.ts"
import { passPausePoint } from "../../runtime/engine/PausePoints.ts"
import { ShortLivedMap } from "../../runtime/engine/ShortLivedMap.ts"
import { Waits } from "../../runtime/engine/Waits.ts"
import { isSame, keyedForm, type KeyedRequest } from "../../runtime/services/shared/KeyedRequest.ts"
import type { AnswerStore } from "../../runtime/store/AnswerStore.ts"
import type { AnswerRow } from "../../runtime/tables/engine.ts"
import { gateRefusals, refusalText, type WireRefusal } from "../../machines/shared/wireRefusal.ts"
import { type RecentAnswer, RecentAnswers } from "./RecentAnswers.ts"

/** The answer to a caller; `replayed` is true when the request did not run now. */
export interface KeyedAnswer extends Rendered {
  readonly replayed: boolean
}

/**
 * True for a valid header: printable ASCII without spaces, 1 to 128 characters. A header that was sent twice is invalid,
 * because Node joins the values with ", ".
 */
export const isIdempotencyKey = (header: string): boolean => /^[\x21-\x7e]{1,128}$/.test(header)

/**
 * Texts with more characters than this are compared by digest, because serialising megabytes again would block the single
 * thread.
 */
const longText = 64 * 1024

/** Marks a digest. No text of a body can begin with it, because parseBody refuses U+0000. */
const digestMark = "\u0000sha256:"

const isLong = (value: unknown): value is string => typeof value === "string" && value.length > longText

/** True if a member of the body is a long text. Nearly all bodies have none and are used without a copy. */
const hasLong = (body: object): boolean => {
  for (const name in body) if (isLong((body as Readonly<Record<string, unknown>>)[name])) return true
  return false
}

/** The body, with digests in place of long texts among its direct members. */
const shortened = (body: unknown): unknown =>
  typeof body !== "object" || body === null || Array.isArray(body) || !hasLong(body)
    ? body
    : Object.fromEntries(
        Object.entries(body).map(([name, value]) => [
          name,
          isLong(value) ? digestMark + hash("sha256", value, "hex") : value
        ])
      )

const isFlat = (body: unknown): body is object => {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return false
  for (const name in body) {
    const value = (body as Readonly<Record<string, unknown>>)[name]
    if (typeof value === "object" && value !== null) return false
  }
  return true
}

/**
 * The canonical JSON of a parsed body (RFC 8785). A body whose members are all scalar, as in every report, needs no walk:
 * JSON.stringify with the sorted names writes the same form.
 */
export const canonicalOf = (body: unknown): string =>
  isFlat(body) ? JSON.stringify(body, Object.keys(body).sort()) : (canonicalize(body) ?? "")

/** Marks the exact form of a body. Like `digestMark`, no text of a body can begin with it. */
const exactMark = "\u0000exact:"

/**
 * The form in which bodies are compared on a route that stores JSON text. The parsed value is not enough there: JSON.parse
 * can make the same number of two different account numbers of twenty digits. A plain body is compared by its value. Any
 * other body is compared also by its numbers as written, or by its text when it has a duplicate name.
 */
export const comparedBody = (value: unknown, text: string): unknown => {
  const exact = parseExact(text)
  if (isPlain(exact)) return value
  return [value, exactMark + (isWhole(exact) ? canonicalOf(exact) : withoutSpace(text))]
}

/** The identity of a request: method, path and canonical JSON. */
const samenessOf = (method: string, path: string, body: unknown): string => `${method}\n${path}\n${canonicalOf(body)}`

/** Hashes a text under a key that the database does not hold. */
export type KeyedHash = (text: string) => string

/**
 * The fingerprint of a request, a keyed hash. A plain hash would reveal answers with few choices, such as those of a test, to
 * anyone who tries all of them.
 */
export const fingerprintOf = (keyed: KeyedHash, method: string, path: string, body: unknown): string =>
  `${keyedForm}${keyed(`request\n${samenessOf(method, path, shortened(body))}`)}`

/** The plain SHA-256 of earlier versions. Answers stored with it are replayed until their 24 hours end. */
export const olderFingerprintOf = (method: string, path: string, body: unknown): string =>
  hash("sha256", samenessOf(method, path, body), "hex")

/** The result of a run: a row, which stores the answer for retries, or an answer that is not stored. */
export type Ended = AnswerRow | Rendered

const rendered = (refusal: WireRefusal): KeyedAnswer => ({
  status: refusal.status,
  body: refusalText(refusal),
  replayed: false
})

interface InFlight {
  readonly fingerprint: string
}

/** The end of a running request. `row`: the stored answer; null when the key is free again. */
interface Settled {
  readonly row: RecentAnswer | null
}

const givenBack: Settled = { row: null }

export interface IdempotencyOptions {
  readonly answers: Pick<AnswerStore["Service"], "find" | "discardExpired">
  readonly clock: Pick<BusinessClock["Service"], "now">
  /** A second request waits this long for the answer of the first, wall milliseconds. */
  readonly waitMillis?: number
}

/** The outcome of a run. `row`: the stored answer, which every retry gets; null when the key is free again. */
interface Run {
  readonly row: RecentAnswer | null
  readonly answer: KeyedAnswer
}

/** Limit on retries that wait for the same running request. */
const waitersAtMost = 1_024

/** How often a run is repeated because the answer that held its key had just expired. */
const rerunLimit = 3

export class Idempotency {
  private readonly inFlight = new ShortLivedMap<string, InFlight>()
  private readonly waits = new Waits<string, Settled>(waitersAtMost)
  private readonly recent = new RecentAnswers()
  private readonly options: IdempotencyOptions
  private readonly waitMillis: number

  constructor(options: IdempotencyOptions) {
    this.options = options
    this.waitMillis = options.waitMillis ?? idempotency.waitMillis
  }

  /**
   * Answers a keyed request: by replay, by waiting for the same request, or by running `execute` and storing its
   * answer. A failure of `execute`, or an answer that is not stored, frees the key. `readFirst` is for a request of
   * several commits, where only the last commit would be refused when the key is taken: the stored answer is read
   * before the first commit.
   */
  answer(
    request: KeyedRequest,
    execute: () => Effect.Effect<Ended, DispatchError>,
    { readFirst = false }: { readonly readFirst?: boolean } = {}
  ): Effect.Effect<KeyedAnswer, DispatchError> {
    const run = readFirst ? this.unlessStored(request, execute) : execute
    return this.enter(request, run, performance.now() + this.waitMillis)
  }

  /**
   * Reads whether the key has a stored answer before the first commit. If it has, the effect fails as the last commit
   * would: the answer is then sent, or deleted when it has expired.
   */
  private unlessStored(
    request: KeyedRequest,
    execute: () => Effect.Effect<Ended, DispatchError>
  ): () => Effect.Effect<Ended, DispatchError> {
    const { principal, key } = request
    return () =>
      Effect.flatMap(this.options.answers.find(principal, key), (stored) =>
        stored === null
          ? execute()
          : Effect.fail(new ClaimLost({ claims: [{ name: answerClaim(principal, key), owner: 0 }] }))
      )
  }

  private enter(
    request: KeyedRequest,
    execute: () => Effect.Effect<Ended, DispatchError>,
    deadline: number
  ): Effect.Effect<KeyedAnswer, DispatchError> {
    const name = nameOf(request)
    const running = this.inFlight.get(name)
    if (running !== undefined) {
      if (running.fingerprint !== request.fingerprint) return Effect.succeed(rendered(gateRefusals.keyReused))
      if (this.waits.isFull(name)) return Effect.succeed(rendered(gateRefusals.inProgress))
      const now = Effect.sync(() => (this.inFlight.get(name) === running ? null : givenBack))
      const settled = this.waits.until(name, now, (end) => end, Math.max(0, deadline - performance.now()))
      return Effect.flatMap(settled, (end) => {
        if (end === null) return Effect.succeed(rendered(gateRefusals.inProgress))
        return end.row === null ? this.enter(request, execute, deadline) : Effect.succeed(replay(end.row, request))
      })
    }
    const known = this.recent.get(name)
    if (known !== undefined) {
      if (!this.expired(known)) return Effect.succeed(replay(known, request))
      this.recent.delete(name)
    }
    const entry: InFlight = { fingerprint: request.fingerprint }
    this.inFlight.set(name, entry)
    passPausePoint("after-claim")
    // A disconnect interrupts the caller's fiber. The run continues to its end, because the key would otherwise stay taken.
    return Effect.uninterruptible(
      Effect.matchCauseEffect(this.run(request, execute, rerunLimit), {
        onSuccess: ({ row, answer }) => {
          if (row !== null) this.recent.set(name, row)
          this.settle(name, row)
          return Effect.succeed(answer)
        },
        onFailure: (cause) => {
          this.settle(name, null)
          return Effect.failCause(cause)
        }
      })
    )
  }

  /** Runs the request. If the database already has an answer, it is replayed, or deleted when it has expired. */
  private run(
    request: KeyedRequest,
    execute: () => Effect.Effect<Ended, DispatchError>,
    tries: number
  ): Effect.Effect<Run, DispatchError> {
    return Effect.matchEffect(execute(), {
      onSuccess: (ended) => {
        if (!("answeredAt" in ended)) return this.unkept(request, ended)
        return Effect.succeed({ row: ended, answer: { status: ended.status, body: ended.body, replayed: false } })
      },
      onFailure: (error) => {
        if (tries === 0 || !lostAnswer(error, request)) return Effect.fail(error)
        return Effect.flatMap(this.options.answers.find(request.principal, request.key), (stored) => {
          if (stored === null) return this.run(request, execute, tries - 1)
          if (!this.expired(stored)) return Effect.succeed({ row: stored, answer: replay(stored, request) })
          const cutoff = this.options.clock.now() - idempotency.replayMillis
          return Effect.andThen(
            this.options.answers.discardExpired(request.principal, request.key, cutoff),
            this.run(request, execute, tries - 1)
          )
        })
      }
    })
  }

  /**
   * Checks for a stored answer when the run's own answer is not stored, because then no commit has compared the key.
   * A retry in a later process may be refused because of its own first run (for example, that run took the test), and
   * must get the first answer.
   */
  private unkept(request: KeyedRequest, answer: Rendered): Effect.Effect<Run, DispatchError> {
    return Effect.map(this.options.answers.find(request.principal, request.key), (stored) =>
      stored === null || this.expired(stored)
        ? { row: null, answer: { ...answer, replayed: false } }
        : { row: stored, answer: replay(stored, request) }
    )
  }

  /** Whether the answer is older than 24 hours, so that its key is free again. */
  private expired(answer: RecentAnswer): boolean {
    return this.options.clock.now() - answer.answeredAt >= idempotency.replayMillis
  }

  private settle(name: string, row: RecentAnswer | null): void {
    this.inFlight.delete(name)
    if (this.waits.has(name)) this.waits.publish(name, { row })
  }
}

const nameOf = ({ principal, key }: { readonly principal: string; readonly key: string }): string =>
  `${principal} ${key}`

const lostAnswer = (error: DispatchError, { principal, key }: KeyedRequest): error is ClaimLost =>
  error._tag === "ClaimLost" && error.claims.some((claim) => claim.name === answerClaim(principal, key))

const replay = (answer: RecentAnswer, request: KeyedRequest): KeyedAnswer =>
  isSame(answer.fingerprint, request)
    ? { status: answer.status, body: answer.body, replayed: true }
    : rendered(gateRefusals.keyReused)
