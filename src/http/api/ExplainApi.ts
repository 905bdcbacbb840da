/**
 * What a money write would be answered now, gate by gate: the body of the write, and nothing is written (doc 3, Money
 * write gates and Collateral report rules; A3-02, A3-14). Any key may ask, because nothing is changed.
 */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { CollateralBody } from "../../machines/collateral/CollateralBody.ts"
import { DepositBody } from "../../machines/deposit/DepositBody.ts"
import { bodyCaps } from "../../machines/shared/Limits.ts"
import { WithdrawalBody } from "../../machines/withdrawal/WithdrawalBody.ts"
import { ok } from "./Envelope.ts"
import { Explanation } from "./explanation.ts"
import { clientParams } from "./Parameters.ts"
import { RouteRules } from "./RouteRules.ts"
import { BadRequest, Conflict } from "./WireErrors.ts"

const answers = { params: clientParams, success: ok(Explanation), error: [BadRequest, Conflict] } as const

const rules = (bodyCap: number): RouteRules => ({ idempotent: false, reliance: false, bodyCap, reads: true })

const said = (what: string) =>
  OpenApi.annotations({
    summary: `Explain what ${what} would be answered`,
    description:
      "Takes the body of the write and answers each of its gates in the order checked. Writes nothing, takes no reference and is open to READ keys; it counts in the TRADE window."
  })

export class ExplainApi extends HttpApiGroup.make("explain")
  .add(
    HttpApiEndpoint.post("collateral", "/clients/:clientId/collateral/explain", { ...answers, payload: CollateralBody })
      .annotate(RouteRules, rules(bodyCaps.collateral))
      .annotateMerge(said("a collateral report")),
    HttpApiEndpoint.post("deposit", "/clients/:clientId/deposits/explain", { ...answers, payload: DepositBody })
      .annotate(RouteRules, rules(bodyCaps.deposit))
      .annotateMerge(said("a deposit notice")),
    HttpApiEndpoint.post("withdrawal", "/clients/:clientId/withdrawals/explain", {
      ...answers,
      payload: WithdrawalBody
    })
      .annotate(RouteRules, rules(bodyCaps.withdrawal))
      .annotateMerge(said("a withdrawal request"))
  )
  .annotateMerge(OpenApi.annotations({ title: "Explain", description: "Why a money write would be refused." })) {}
