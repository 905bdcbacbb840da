// The explain routes: one question to the service, rendered through the table of codes (doc 3, Money write gates; A3-02).
import { Effect } from "effect"
import { accept } from "../../machines/shared/Refusal.ts"
import type { Explain, ExplainedWrite } from "../../runtime/services/money/Explain.ts"
import type { Explanation } from "../api/explanation.ts"
import { explanationView } from "../explanationView.ts"
import { enveloped, type Write, write } from "./writes.ts"

const explaining = (explain: Explain["Service"], name: ExplainedWrite): Write =>
  write(
    (explanation: Explanation) => enveloped(200, explanation),
    ({ caller: { partner, by }, clientId, body, text }) =>
      Effect.map(explain.explain(name, { partner, by, clientId, body, text }), (verdict) =>
        verdict.ok ? accept(explanationView(verdict.value)) : verdict
      )
  )

/** Posts that write nothing, by operation id. */
export const explainWrites = (explain: Explain["Service"]): Readonly<Record<string, Write>> => ({
  "explain.collateral": explaining(explain, "collateral"),
  "explain.deposit": explaining(explain, "deposit"),
  // As the write itself: a destination is judged digit for digit.
  "explain.withdrawal": { ...explaining(explain, "withdrawal"), verbatim: true }
})
