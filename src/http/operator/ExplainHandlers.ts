/** Handlers of explain. Each finds the client, then calls the service that the partner surface uses (operator surface; A3-02). */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { randomUUID } from "node:crypto"
import { accept, invalidFields, refuse, unknown, type Verdict } from "../../machines/shared/Refusal.ts"
import { ActorHost, type DispatchError } from "../../runtime/engine/mailbox/ActorHost.ts"
import { findClient } from "../../runtime/services/account/findClient.ts"
import { Directory, type PartnerView } from "../../runtime/services/partners/Directory.ts"
import { Explain } from "../../runtime/services/operations/registries/Explain.ts"
import type { ExplainedWrite, Explanation } from "../../runtime/services/shared/Explanation.ts"
import { Orders } from "../../runtime/services/trading/order/Orders.ts"
import { Rfqs } from "../../runtime/services/trading/rfq/Rfqs.ts"
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
    const rfqs = yield* Rfqs
    const orders = yield* Orders
    /** Finds the client and its partner, and runs `explain` for them; 404 for an unknown client. */
    const ofClient = (
      client: string,
      question: (clientId: number, partner: PartnerView) => Effect.Effect<Verdict<Explanation>, DispatchError>
    ) =>
      answer(
        Effect.gen(function* () {
          const named = yield* findClient(host, sql, client)
          if (!named.ok) return named
          const found = named.value
          const partner = directory.partner(found.partnerId)
          if (partner === null) return refuse(unknown("Client"))
          const verdict = yield* question(found.id, partner)
          return verdict.ok ? accept(wireExplanation(verdict.value)) : verdict
        })
      )
    const explained = (write: ExplainedWrite, client: string, body: object, text?: string) =>
      Effect.flatMap(currentCaller, ({ by }) =>
        ofClient(client, (clientId, partner) =>
          explain.explain(write, { partner, by, clientId, body: { partnerRef: randomUUID(), ...body }, text })
        )
      )
    return handlers.handleAll({
      collateral: ({ params, query }) => explained("collateral", params.client, { direction: "WITHDRAWAL", ...query }),
      deposit: ({ params, query }) => explained("deposit", params.client, { currency: "USDC", ...query }),
      rfq: ({ params, query }) =>
        ofClient(params.client, (clientId, partner) => rfqs.explain({ partner }, clientId, rfqBody(query))),
      order: ({ params, query }) =>
        ofClient(params.client, (clientId, partner) => orders.explain({ partner }, clientId, orderBody(query))),
      withdrawal: ({ params, query: { destination, ...query } }) => {
        const body = { currency: "USDC", ...query }
        if (destination === undefined) return explained("withdrawal", params.client, body)
        const parsed = parseBody(Buffer.from(destination))
        return parsed.ok
          ? explained(
              "withdrawal",
              params.client,
              { ...body, destination: parsed.value },
              `{"destination":${destination}}`
            )
          : answer(Effect.succeed(refuse(invalidFields({ destination: notJson }))))
      }
    })
  })
)

export const explain = operatorFeature({ api: ExplainGroup, layer: Layer.empty, handlers: explainHandlers })

interface RfqQuestion {
  readonly level?: string
  readonly takeProfit?: string
  readonly expiryTs?: number
  readonly strictTakeProfit?: "true" | "false"
  readonly autoAccept?: "true" | "false"
}

/**
 * The body of a request for quotes as a partner would send it: the question's flat members, with those of the barrier
 * nested.
 */
const rfqBody = ({ level, takeProfit, expiryTs, strictTakeProfit, autoAccept, ...rest }: RfqQuestion): object => ({
  ...rest,
  ...(autoAccept === undefined ? {} : { autoAccept: autoAccept === "true" }),
  barrier: {
    ...(level === undefined ? {} : { level }),
    ...(takeProfit === undefined ? {} : { takeProfit }),
    ...(expiryTs === undefined ? {} : { expiryTs }),
    ...(strictTakeProfit === undefined ? {} : { strictTakeProfit: strictTakeProfit === "true" })
  }
})

interface OrderQuestion {
  readonly reduceOnly?: "true" | "false"
  readonly triggerSource?: string
  readonly triggerPrice?: string
  readonly triggerDirection?: string
  readonly limitPrice?: string
  readonly takeProfit?: string
  readonly stopLoss?: string
}

/**
 * The body of an order as a partner would send it: the question's flat members, with trigger and attached orders nested.
 */
const orderBody = (question: OrderQuestion): object => {
  const { reduceOnly, triggerSource, triggerPrice, triggerDirection, limitPrice, takeProfit, stopLoss, ...rest } =
    question
  const trigger = given({ source: triggerSource, price: triggerPrice, direction: triggerDirection, limitPrice })
  const attach = given({ takeProfit: levelOf(takeProfit), stopLoss: levelOf(stopLoss) })
  return {
    ...rest,
    ...(reduceOnly === undefined ? {} : { reduceOnly: reduceOnly === "true" }),
    ...(trigger === null ? {} : { trigger }),
    ...(attach === null ? {} : { attach })
  }
}

const levelOf = (price: string | undefined): object | undefined => (price === undefined ? undefined : { price })

/** The members that are present; null when none is. */
const given = (members: Readonly<Record<string, unknown>>): object | null => {
  const sent = Object.entries(members).filter(([, value]) => value !== undefined)
  return sent.length === 0 ? null : Object.fromEntries(sent)
}

const notJson = 'The destination must be JSON, such as {"iban":"DE02..."}.'
