/**
 * One feature of the operator surface: its group of the contract, the handlers, and its own services. The operator server is
 * made from a list of features (operatorFeatures.ts).
 */
import type { Layer } from "effect"
import type { HttpApi, HttpApiGroup } from "effect/http-api"
import type { Ruled } from "../api/operator/CommandRules.ts"
import type { OperatorApi } from "../api/OperatorApi.ts"

type ApiId = typeof OperatorApi extends HttpApi.HttpApi<infer Id, infer _Groups> ? Id : never

/** A group whose endpoints all declare their roles. */
export type RuledGroup = HttpApiGroup.Constraint & { readonly endpoints: Readonly<Record<string, Ruled>> }

export interface OperatorFeature<G extends RuledGroup, Needs, Services> {
  readonly api: G
  /** Services that the runtime and the partner features do not provide; `Layer.empty` for none. */
  readonly layer: Services
  readonly handlers: Layer.Layer<HttpApiGroup.Service<ApiId, G["identifier"]>, never, Needs>
}

export const operatorFeature = <G extends RuledGroup, Needs, Out, E, In>(
  feature: OperatorFeature<G, Needs, Layer.Layer<Out, E, In>>
): OperatorFeature<G, Needs, Layer.Layer<Out, E, In>> => feature
