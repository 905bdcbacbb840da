/** Handlers of explain: the client is found, then the partner surface's own service is asked (operator surface; A3-02). */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { randomUUID } from "node:crypto"
import { accept, invalidFields, refuse, unknown } from "../../machines/shared/Refusal.ts"
import { ActorHost } from "../../runtime/engine/mailbox/ActorHost.ts"
import { findClient } from "../../runtime/services/client/findClient.ts"
import { Directory } from "../../runtime/services/partner/Directory.ts"
import { Explain, type ExplainedWrite } from "../../runtime/services/money/Explain.ts"
import { ExplainGroup } from "../api/operator/ExplainGroup.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { wireExplanation } from "../explanationWire.ts"
import { parseBody } from "../middleware/parseBody.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { answer } from "./toOperatorError.ts"

const explainHandlers = HttpApiBuilder.group(
  OperatorApi,
  "explain",
  Effect.fnUntraced(function* (handlers) {
    const explain = yield* Explain
    const directory = yield* Directory
    const host = yield* ActorHost
    const sql = yield* PgClient.PgClient
    const ask = (write: ExplainedWrite, client: string, body: object, text?: string) =>
      Effect.flatMap(currentCaller, ({ by }) =>
        answer(
          Effect.gen(function* () {
            const found = yield* findClient(host, sql, client)
            const partner = found === null ? null : directory.partner(found.partnerId)
            if (found === null || partner === null) return refuse(unknown("Client"))
            const asked = { partnerRef: randomUUID(), ...body }
            const verdict = yield* explain.explain(write, { partner, by, clientId: found.id, body: asked, text })
            return verdict.ok ? accept(wireExplanation(verdict.value)) : verdict
          })
        )
      )
    return handlers.handleAll({
      collateral: ({ params, query }) => ask("collateral", params.client, { direction: "WITHDRAWAL", ...query }),
      deposit: ({ params, query }) => ask("deposit", params.client, { currency: "USDC", ...query }),
      withdrawal: ({ params, query: { destination, ...query } }) => {
        const body = { currency: "USDC", ...query }
        if (destination === undefined) return ask("withdrawal", params.client, body)
        const parsed = parseBody(Buffer.from(destination))
        return parsed.ok
          ? ask("withdrawal", params.client, { ...body, destination: parsed.value }, `{"destination":${destination}}`)
          : answer(Effect.succeed(refuse(invalidFields({ destination: notJson }))))
      }
    })
  })
)

export const explain = operatorFeature({ api: ExplainGroup, layer: Layer.empty, handlers: explainHandlers })

const notJson = 'The destination must be JSON, such as {"iban":"DE02..."}.'
