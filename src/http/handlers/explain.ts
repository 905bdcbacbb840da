/** Explains the refusal that a money write would get now, with its code (doc 3, Money write gates; A3-02). */
import { Effect } from "effect"
import { accept } from "../../machines/shared/Refusal.ts"
import { Explain } from "../../runtime/services/operations/registries/Explain.ts"
import type { ExplainedWrite } from "../../runtime/services/shared/Explanation.ts"
import { ExplainApi } from "../api/ExplainApi.ts"
import { wireExplanation } from "../explanationWire.ts"
import { feature, handlersOf } from "./feature.ts"
import { type Endpoint, write, type WriteInput } from "./handler.ts"

type OfClient = Endpoint & { readonly "~Params": { readonly Type: { readonly clientId: number } } }

export const explain = feature({
  api: ExplainApi,
  layer: Explain.layer,
  handlers: Effect.map(Explain, (service) => {
    const explaining =
      (name: ExplainedWrite) =>
      ({ caller: { partner, by }, params: { clientId }, body, text }: WriteInput<OfClient>) =>
        Effect.map(service.explain(name, { partner, by, clientId, body, text }), (verdict) =>
          verdict.ok ? accept(wireExplanation(verdict.value)) : verdict
        )
    return handlersOf(ExplainApi, {
      collateral: write(explaining("collateral")),
      deposit: write(explaining("deposit")),
      // The body is read verbatim, as for the write itself, because destinations are compared digit by digit.
      withdrawal: write(explaining("withdrawal"), { verbatim: true })
    })
  })
})
