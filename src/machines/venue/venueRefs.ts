/**
 * The refs of the service's calls to the venue: letters, a hyphen, the id of the object, and a suffix that distinguishes the
 * object's calls. So a ref names its object even when no call of it is in flight (A2-111).
 */

import { nounLetters } from "./venueNouns.ts"

/**
 * The kinds of objects that call the venue, by the first letters of their refs. Each kind has a machine (tradingRegistry.ts).
 * Letters are never reused.
 */
export const refLetters = {
  P: "venueProbe",
  R: "rfq",
  A: "rfq",
  T: "barrierContract",
  O: "order",
  ...nounLetters
} as const
type Letters = keyof typeof refLetters

/** A kind of object that calls the venue. */
export type VenueOwner = (typeof refLetters)[Letters]

export interface RefOwner {
  readonly owner: VenueOwner
  readonly id: number
}

const shape = /^([A-Z]{1,4})-([1-9][0-9]{0,15})(?:-[A-Za-z0-9_:-]+)?$/

/** The object that a ref names; null for a ref that the service did not choose. */
export const ownerOfRef = (ref: string): RefOwner | null => {
  const [, letters = "", id = ""] = shape.exec(ref) ?? []
  return Object.hasOwn(refLetters, letters) ? { owner: refLetters[letters as Letters], id: Number(id) } : null
}

/** The object that one of the service's refs names, in the form of the audit (KIND:ID). */
export const objectOfRef = (ref: string): `${VenueOwner}:${number}` => {
  const named = ownerOfRef(ref)
  if (named === null) throw new Error(`${ref} is no ref of ours`)
  return `${named.owner}:${named.id}`
}
