/**
 * Converts an explanation to its wire form. Each refusal gets the code and sentence that the real write would answer (doc
 * 1, Errors; doc 3, Money write gates).
 */
import type { Refusal } from "../machines/shared/Refusal.ts"
import type { Explanation as Explained } from "../runtime/services/shared/Explanation.ts"
import type { Explanation } from "./api/explanation.ts"
import { toWire } from "../machines/shared/wireRefusal.ts"

const wireForm = (refusal: Refusal | null) => {
  if (refusal === null) return { code: null, sentence: null }
  const { code, msg } = toWire(refusal)
  return { code, sentence: msg }
}

export const wireExplanation = ({ write, outcome, refusal, gates }: Explained): Explanation => ({
  write,
  outcome,
  ...wireForm(refusal),
  data: refusal === null ? null : toWire(refusal).data,
  gates: gates.map((gate) => ({
    gate: gate.gate,
    status: gate.result,
    compared: gate.compared,
    ...wireForm(gate.refusal)
  }))
})
