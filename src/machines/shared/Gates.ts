/**
 * Gates as data: named checks, in the order that the contract promises. A write stops at the first gate that refuses;
 * `explain` runs the same list and shows each gate. A gate that passes allocates no memory, because this is the hot path
 * (A2-110, A3-02).
 */
import type { Refusal } from "./Refusal.ts"
import type { Reason } from "./RefusalReason.ts"
import { invalidWhole } from "./RequestBody.ts"

/** The values that a gate compared, for display: decimal strings in the currency's scale, or tokens. */
export interface Compared {
  readonly figure: string
  readonly limit: string
}

export interface Gate<Facts> {
  readonly gate: string
  readonly refusal: (facts: Facts) => Refusal | null
  /** Used by `explain` only. Null when the gate compares no figures for this request. */
  readonly compared: (facts: Facts) => Compared | null
}
export type Gates<Facts> = ReadonlyArray<Gate<Facts>>

/** A check whose result is only a sentence, so that it also serves where a request is checked but not refused. */
export interface Rule<Facts, Sentence extends string = string> {
  readonly gate: string
  /** Null when the rule is met. */
  readonly sentence: (facts: Facts) => Sentence | null
  /** The reason token; a function of the sentence when the rule has several sentences. */
  readonly reason: Reason | ((facts: Facts, sentence: Sentence) => Reason)
  readonly compared: (facts: Facts) => Compared | null
}

/** The first sentence in the order of the rules, or null when all are met. */
export const firstSentence = <Facts>(rules: ReadonlyArray<Rule<Facts>>, facts: Facts): string | null => {
  for (const rule of rules) {
    const sentence = rule.sentence(facts)
    if (sentence !== null) return sentence
  }
  return null
}

/** The reason token of a rule's refusal. */
export const reasonOf = <Facts, Sentence extends string>(
  { reason }: Rule<Facts, Sentence>,
  facts: Facts,
  sentence: Sentence
): Reason => (typeof reason === "string" ? reason : reason(facts, sentence))

/**
 * A gate that refuses with a rule's sentence (400 4000). `seen` selects the part of the gate's facts that the rule checks;
 * null when the rule does not apply.
 */
export const gateOf = <Facts, Seen, Sentence extends string>(
  rule: Rule<Seen, Sentence>,
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
  /** The refusal that the write would return; only for the gate that failed. */
  readonly refusal: Refusal | null
}

/** Results of all gates; those after the first refusal are without a result. */
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
