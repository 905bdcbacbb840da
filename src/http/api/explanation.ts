/**
 * The answer of the explain routes: every gate of a money write in order, and the answer that the write would get now (doc 3,
 * Money write gates and Collateral report rules; A3-02, A3-14).
 */
import { Schema } from "effect"
import { OpenApi } from "effect/http-api"
import { nounWrites } from "../../machines/venue/venueNouns.ts"
import { ok } from "./Envelope.ts"
import { clientParams } from "./Parameters.ts"
import type { RouteRules } from "./RouteRules.ts"
import { BadRequest, Conflict } from "./WireErrors.ts"

const code = Schema.NullOr(Schema.Int).annotate({
  description: "The error code that the write would answer; null when this does not refuse it."
})
const sentence = Schema.NullOr(Schema.String).annotate({ description: "The sentence it would answer." })

export const ExplainedGate = Schema.Struct({
  gate: Schema.String,
  status: Schema.Literals(["passed", "failed", "notReached"]),
  compared: Schema.NullOr(Schema.Struct({ figure: Schema.String, limit: Schema.String })).annotate({
    description: "What was held against what, where the gate compares."
  }),
  code,
  sentence
}).annotate({ identifier: "ExplainedGate" })

export const Explanation = Schema.Struct({
  write: Schema.Literals(["collateral", "deposit", "withdrawal", "rfq", "order", ...nounWrites]),
  outcome: Schema.Literals(["ACCEPTED", "REPLAYED", "REFUSED"]).annotate({
    description: "REPLAYED: the reference is filed already, so the write answers its original."
  }),
  code,
  sentence,
  data: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown)).annotate({
    description: "The data member of the refusal."
  }),
  gates: Schema.Array(ExplainedGate).annotate({
    description: "In the order checked; those after the first that fails are not reached."
  })
}).annotate({ identifier: "Explanation" })
export type Explanation = typeof Explanation.Type

/** Parameters and answers of a route that explains a money write. */
export const explains = { params: clientParams, success: ok(Explanation), error: [BadRequest, Conflict] } as const

/** The rules of an explain route: every key may use it, because it changes nothing. `bodyCap` is that of the write. */
export const explainRules = (bodyCap: number): RouteRules => ({
  idempotent: false,
  reliance: false,
  bodyCap,
  reads: true
})

/** The description of an explain route; `write` includes its article. */
export const explainText = (write: string) =>
  OpenApi.annotations({
    summary: `Explain what ${write} would be answered`,
    description:
      "Takes the body of the write and answers each of its gates in the order checked. Writes nothing, takes no reference and is open to READ keys; it counts in the TRADE window."
  })
