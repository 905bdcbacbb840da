/** Work items that wait for a decision of the operator's staff (operator surface, queue). */

/** The kinds of work. A client's KYC review is listed as one of the client's compliance cases. */
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

/** One work item; money as a decimal string in the currency's scale. */
export interface Waiting {
  readonly kind: WaitingKind
  /** The object's id, as the object's commands take it. */
  readonly id: string
  /** Business time since which the item waits, Unix ms. */
  readonly since: number
  readonly state: string
  /** The partner's code. */
  readonly partner: string | null
  readonly clientId: number | null
  readonly clientUid: string | null
  readonly currency: string | null
  readonly amount: string | null
  /** The subject of the decision, in a few words. */
  readonly about: string | null
  /** The command that decides the item, by its name in the role table. */
  readonly command: string
  /** The possible command lines, the usual line first. */
  readonly decide: ReadonlyArray<string>
}
