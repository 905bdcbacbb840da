/**
 * A noun of the operator surface in one line: its part of the contract, what answers it, and the services that it brings
 * along. A list of them is what the operator server is made of (operatorFeatures.ts).
 */
import type { Layer } from "effect"
import type { HttpApi, HttpApiGroup } from "effect/http-api"
import type { Ruled } from "../api/operator/CommandRules.ts"
import type { OperatorApi } from "../api/OperatorApi.ts"

type ApiId = typeof OperatorApi extends HttpApi.HttpApi<infer Id, infer _Groups> ? Id : never

/** A group whose every endpoint says who may run it. */
export type RuledGroup = HttpApiGroup.Constraint & { readonly endpoints: Readonly<Record<string, Ruled>> }

export interface OperatorFeature<G extends RuledGroup, Needs, Services> {
  readonly api: G
  /** The services that no partner's feature and not the runtime brings: `Layer.empty` for none. */
  readonly layer: Services
  readonly handlers: Layer.Layer<HttpApiGroup.Service<ApiId, G["identifier"]>, never, Needs>
}

export const operatorFeature = <G extends RuledGroup, Needs, Out, E, In>(
  feature: OperatorFeature<G, Needs, Layer.Layer<Out, E, In>>
): OperatorFeature<G, Needs, Layer.Layer<Out, E, In>> => feature
