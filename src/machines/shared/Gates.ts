/**
 * Gates as data: named, and in the order that the contract promises. A write stops at the first that refuses; `explain` walks
 * the very same list and shows each. A gate that passes allocates nothing: this is the hot path (A2-110, A3-02).
 */
import type { Refusal } from "./Refusal.ts"
import type { Reason } from "./RefusalReason.ts"
import { invalidWhole } from "./RequestBody.ts"

/** What a gate held against what, for a person: decimal strings in the currency's scale, or tokens. */
export interface Compared {
  readonly figure: string
  readonly limit: string
}

export interface Gate<Facts> {
  readonly gate: string
  readonly refusal: (facts: Facts) => Refusal | null
  /** Asked by `explain` alone. Null: it compares nothing for this request. */
  readonly compared: (facts: Facts) => Compared | null
}
export type Gates<Facts> = ReadonlyArray<Gate<Facts>>

/** What a gate asks when all it has to say is a sentence: so it serves where nothing is refused, only judged, too. */
export interface Rule<Facts, Said extends string = string> {
  readonly gate: string
  /** Null: it holds. */
  readonly sentence: (facts: Facts) => Said | null
  /** Why, as a token; by what it has said where it says several things. */
  readonly reason: Reason | ((facts: Facts, said: Said) => Reason)
  readonly compared: (facts: Facts) => Compared | null
}

/** The first sentence in the rules' order, or null when all hold. */
export const firstSentence = <Facts>(rules: ReadonlyArray<Rule<Facts>>, facts: Facts): string | null => {
  for (const rule of rules) {
    const sentence = rule.sentence(facts)
    if (sentence !== null) return sentence
  }
  return null
}

/** The token of a rule that has said something. */
export const reasonOf = <Facts, Said extends string>({ reason }: Rule<Facts, Said>, facts: Facts, said: Said): Reason =>
  typeof reason === "string" ? reason : reason(facts, said)

/** The gate that refuses with a rule's sentence (400 4000). `seen` is what of the gate's facts the rule judges; null: nothing. */
export const gateOf = <Facts, Seen, Said extends string>(
  rule: Rule<Seen, Said>,
  seen: (facts: Facts) => Seen | null
): Gate<Facts> => ({
  gate: rule.gate,
  refusal: (facts) => {
    const of = seen(facts)
    const sentence = of === null ? null : rule.sentence(of)
    return of === null || sentence === null ? null : invalidWhole(reasonOf(rule, of, sentence), sentence)
  },
  compared: (facts) => {
    const of = seen(facts)
    return of === null ? null : rule.compared(of)
  }
})

/** The first refusal in the list's order, or null when every gate passes. */
export const firstRefusal = <Facts>(gates: Gates<Facts>, facts: Facts): Refusal | null => {
  for (let index = 0; index < gates.length; index++) {
    const refusal = (gates[index] as Gate<Facts>).refusal(facts)
    if (refusal !== null) return refusal
  }
  return null
}

/** One gate as `explain` shows it. */
export interface GateResult {
  readonly gate: string
  readonly result: "passed" | "failed" | "notReached"
  readonly compared: Compared | null
  /** What the write would answer; only of the gate that failed. */
  readonly refusal: Refusal | null
}

/** Every gate up to the first that refuses; those after it are not reached. */
export const walkGates = <Facts>(gates: Gates<Facts>, facts: Facts): ReadonlyArray<GateResult> => {
  let failed = false
  return gates.map(({ gate, refusal, compared }) => {
    if (failed) return notReached(gate)
    const refused = refusal(facts)
    failed = refused !== null
    return { gate, result: failed ? "failed" : "passed", compared: compared(facts), refusal: refused }
  })
}

export const notReached = (gate: string): GateResult => ({
  gate,
  result: "notReached",
  compared: null,
  refusal: null
})
