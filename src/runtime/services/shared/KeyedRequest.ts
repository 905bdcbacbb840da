/**
 * A request under an Idempotency-Key, and the fingerprint by which a later request with the key counts as the same
 * (A1-52).
 */

import { isKept, type Rendered } from "../../../machines/shared/answerText.ts"
import type { StoreAnswer } from "../../engine/mailbox/ActorHost.ts"
import type { AnswerRow } from "../../tables/engine.ts"

/** Stored with each reply, so no kind is ever renamed. A visitor is named by its address, and no reply of its is stored. */
export type PrincipalId = `partner:${number}` | `operator:${number}` | `visitor:${string}`

export interface KeyedRequest {
  readonly principal: PrincipalId
  readonly key: string
  readonly fingerprint: string
  /** The plain SHA-256 fingerprint, for replies that were stored before fingerprints used a keyed hash. */
  readonly olderFingerprint?: () => string
}

/** Prefix of fingerprints made with a keyed hash; older ones are plain SHA-256, 64 hex digits. */
export const keyedForm = "k1:"

/** True if a stored fingerprint is that of the request. */
export const isSame = (stored: string, { fingerprint, olderFingerprint }: KeyedRequest): boolean =>
  stored === fingerprint || (!stored.startsWith(keyedForm) && stored === olderFingerprint?.())

/** The row that stores an answer under the key of its request. */
export const answerRow = (
  { principal, key, fingerprint }: KeyedRequest,
  { status, body }: Rendered,
  now: number
): AnswerRow => ({ principal, key, fingerprint, status, body, answeredAt: now })

/** Renders the verdict of a request once, in the turn that ends the request, for storage under the key of the request. */
export class AnswerKeeper<A> implements StoreAnswer<A> {
  /** The row that a commit of this run stored: its bytes are the answer. */
  stored: AnswerRow | null = null
  private readonly request: KeyedRequest
  private readonly render: (value: A) => Rendered

  constructor(request: KeyedRequest, render: (value: A) => Rendered) {
    this.request = request
    this.render = render
  }

  row(value: A, { now }: { readonly now: number }): AnswerRow | null {
    const answer = this.render(value)
    return isKept(answer) ? answerRow(this.request, answer, now) : null
  }

  committed(row: AnswerRow): void {
    this.stored = row
  }
}
