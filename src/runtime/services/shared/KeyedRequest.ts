/** A request under an Idempotency-Key, and what makes another one with the key the same (doc 1, Idempotency; A1-52). */

/** Stored with answers: a kind is never renamed. */
export type PrincipalId = `partner:${number}` | `operator:${number}`

export interface KeyedRequest {
  readonly principal: PrincipalId
  readonly key: string
  readonly fingerprint: string
  /** The fingerprint in the form of answers that were stored before it was keyed. */
  readonly olderFingerprint?: () => string
}

/** Marks fingerprints by a keyed hash; those before them are 64 hex digits. */
export const keyedForm = "k1:"

/** Whether a stored fingerprint is that of the request. */
export const isSame = (stored: string, { fingerprint, olderFingerprint }: KeyedRequest): boolean =>
  stored === fingerprint || (!stored.startsWith(keyedForm) && stored === olderFingerprint?.())
