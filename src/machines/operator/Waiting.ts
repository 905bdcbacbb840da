/** What waits for somebody of the firm to decide (operator surface, queue). */

/** The kinds of work; a client's KYC review is one of its cases. */
export const waitingKinds = [
  "approval",
  "break",
  "call",
  "case",
  "default",
  "delivery",
  "deposit",
  "leg",
  "quarantine",
  "reliance",
  "statement",
  "withdrawal"
] as const
export type WaitingKind = (typeof waitingKinds)[number]

/** One thing that waits; money as a decimal string in the currency's scale. */
export interface Waiting {
  readonly kind: WaitingKind
  /** Of the object; what its commands take. */
  readonly id: string
  /** Unix ms of business time. */
  readonly since: number
  readonly state: string
  /** The partner's code. */
  readonly partner: string | null
  readonly clientId: number | null
  readonly clientUid: string | null
  readonly currency: string | null
  readonly amount: string | null
  /** What it is about, in a few words. */
  readonly about: string | null
  /** The command that decides it, as the role table names it. */
  readonly command: string
  /** The command lines that may follow, the usual one first. */
  readonly decide: ReadonlyArray<string>
}
