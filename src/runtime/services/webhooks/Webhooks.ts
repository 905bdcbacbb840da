/**
 * A partner's webhook: registration with its secret, the test event, the delivery log, and the operator's redelivery.
 * Changes of the endpoint are turns of the partner's mailbox; the delivery worker sends. D13, D14; A3-29..A3-39, A3-35.
 */
import { Context, Effect, Layer, Semaphore } from "effect"
import { randomBytes } from "node:crypto"
import type { Json } from "../../../machines/shared/Json.ts"
import { isRecord } from "../../../machines/shared/Fields.ts"
import { accept, refuse, type Refusal, unknown, type Verdict } from "../../../machines/shared/Refusal.ts"
import { invalidBody, notABody } from "../../../machines/shared/RequestBody.ts"
import type { DeliveryStatus, DeliveryTry, WebhookDelivery } from "../../../machines/webhook/Webhook.ts"
import type {
  DeliveryPage,
  QueuedTest,
  WebhookEndpoint,
  WebhookRegistration,
  WebhookRemoval,
  WebhookState
} from "../../../machines/webhook/WebhookWire.ts"
import { parseWebhookUrl } from "../../../machines/webhook/webhookUrl.ts"
import {
  ActorHost,
  type DispatchError,
  type StoreAnswer,
  type Turn,
  type Unavailable
} from "../../engine/mailbox/ActorHost.ts"
import { inTurn } from "../../engine/withinTime.ts"
import type { DeliveryRow, EndpointRow } from "../../tables/webhook.ts"
import { DeliveryFigures } from "../../ports/DeliveryFigures.ts"
import { WebhookAddresses } from "./WebhookAddresses.ts"
import { type Caller, partnerNow } from "../partners/Caller.ts"
import { Directory } from "../partners/Directory.ts"
import type { OperatorCaller } from "../shared/OperatorCaller.ts"
import type { PageQuery } from "../../store/paging.ts"
import { rowPage } from "../account/listReads.ts"
import { firstRow } from "../shared/firstRow.ts"
import { RowReads } from "../../ports/RowReads.ts"
import { noWebhook, redeliver, registerEndpoint, removeEndpoint, testEndpoint } from "./webhookDecisions.ts"

export type DeliveryQuery = PageQuery & { readonly status?: DeliveryStatus }

type Answer<A> = Effect.Effect<Verdict<A>, DispatchError>

/** A delivery with its body and attempts. */
export interface DeliveryFile extends WebhookDelivery {
  readonly partnerId: number
  /** The partner's current endpoint; null when it has none. */
  readonly url: string | null
  readonly payload: Json
  /** The last attempts, oldest first. */
  readonly tries: ReadonlyArray<DeliveryTry>
}

export class Webhooks extends Context.Service<
  Webhooks,
  {
    /** PUT: checks the url and the addresses of its host, then registers it with a new secret. A refusal changes nothing. */
    register(caller: Caller, body: unknown): Answer<WebhookRegistration>
    get(partnerId: number): Effect.Effect<Verdict<WebhookState>, Unavailable>
    remove(caller: Caller): Answer<WebhookRemoval>
    test(caller: Caller, store: StoreAnswer<Verdict<QueuedTest>>): Answer<QueuedTest>
    /** The delivery log, newest first. */
    deliveries(partnerId: number, query: DeliveryQuery): Effect.Effect<DeliveryPage, Unavailable>
    /** Like `deliveries`, for the partner with this id or code. */
    deliveriesOf(partner: string, query: DeliveryQuery): Effect.Effect<Verdict<DeliveryPage>, Unavailable>
    /** Like `get`, for the partner with this id or code. */
    endpointOf(partner: string): Effect.Effect<Verdict<WebhookState & { readonly partnerId: number }>, Unavailable>
    /** One delivery with the body that was sent, and the endpoint's response. */
    delivery(deliveryId: number): Effect.Effect<Verdict<DeliveryFile>, Unavailable>
    /** Returns a FAILED delivery to PENDING, by the operator. */
    redeliver(caller: OperatorCaller, deliveryId: number): Answer<WebhookDelivery>
  }
>()("brokerage/runtime/services/webhooks/Webhooks") {
  static readonly layer = Layer.effect(
    Webhooks,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const directory = yield* Directory
      const addresses = yield* WebhookAddresses
      const figures = yield* DeliveryFigures
      const stored = yield* RowReads
      const oneAtATime = yield* Semaphore.make(1)

      const turnOf = <A>(
        caller: Caller,
        decide: (turn: Turn, partnerId: number) => Verdict<A>,
        store?: StoreAnswer<Verdict<A>>
      ): Answer<A> =>
        host.dispatch({
          subject: partnerSubject(caller.partner.row.id),
          by: caller.by,
          decide: (turn) => decide(turn, partnerNow(directory, caller).row.id),
          ...(store === undefined ? {} : { store })
        })

      const deliveries = (partnerId: number, query: DeliveryQuery) =>
        Effect.map(
          rowPage(stored, "webhookDeliveries", [{ column: "partner_id", value: partnerId }], query, (row) => row.id),
          ({ shown, end }): DeliveryPage => ({ deliveries: shown.map(deliveryView), ...end })
        )

      const stateOfPartner = (partnerId: number): Effect.Effect<Verdict<WebhookState>, Unavailable> => {
        const endpoint = directory.partner(partnerId)?.endpoint ?? null
        if (endpoint === null) return Effect.succeed(refuse(noWebhook))
        return Effect.map(figures.of(partnerId), (counted) => accept({ ...stateOf(endpoint), ...counted }))
      }

      return Webhooks.of({
        register: (caller, body) =>
          Effect.gen(function* () {
            if (!isRecord(body)) return refuse(notABody)
            const parsed = parseWebhookUrl(body["url"])
            if (!parsed.ok) return refuse(badUrl(parsed.sentence))
            const found = yield* Effect.result(addresses.check(parsed.host))
            if (found._tag === "Failure") return refuse(badUrl(found.failure.sentence))
            const secret = makeWebhookSecret()
            return yield* turnOf(caller, (turn, partnerId) =>
              accept({ ...stateOf(registerEndpoint(turn, partnerId, parsed.url, secret)), secret })
            )
          }),
        get: stateOfPartner,
        remove: (caller) =>
          turnOf(caller, (turn) => {
            const removed = removeEndpoint(turn)
            return removed.ok ? accept({ active: false, updatedAt: removed.value.updatedAt }) : removed
          }),
        test: (caller, store) => turnOf(caller, testEndpoint, store),
        deliveries,
        deliveriesOf: (partner, query) => {
          const view = directory.findPartner(partner)
          if (view === null) return Effect.succeed(refuse(unknown("Partner")))
          return Effect.map(deliveries(view.row.id, query), accept)
        },
        endpointOf: (partner) => {
          const view = directory.findPartner(partner)
          if (view === null) return Effect.succeed(refuse(unknown("Partner")))
          const partnerId = view.row.id
          return Effect.map(stateOfPartner(partnerId), (found) =>
            found.ok ? accept({ partnerId, ...found.value }) : found
          )
        },
        delivery: (deliveryId) =>
          Effect.map(firstRow(stored, "webhookDeliveries", [{ column: "id", value: deliveryId }]), (row) =>
            row === null
              ? refuse(unknown("Delivery"))
              : accept({
                  partnerId: row.partnerId,
                  ...deliveryView(row),
                  url: directory.partner(row.partnerId)?.endpoint?.url ?? null,
                  payload: JSON.parse(row.body) as Json,
                  tries: row.context.tries
                })
          ),
        redeliver: (caller, deliveryId) =>
          // No mailbox holds deliveries, so the row is read outside the mailbox. One redelivery runs at a time, so that
          // a second one sees the first. A 2xx that arrives in between leads to one more attempt, which the contract
          // allows.
          inTurn(
            oneAtATime,
            Effect.gen(function* () {
              const [row] = yield* stored.page("webhookDeliveries", [{ column: "id", value: deliveryId }], { limit: 1 })
              if (row === undefined) return refuse(unknown("Delivery"))
              const verdict = yield* host.dispatch({
                subject: partnerSubject(row.partnerId),
                by: caller.by,
                decide: (turn) => redeliver(turn, row)
              })
              return verdict.ok ? accept(deliveryView(verdict.value)) : verdict
            })
          )
      })
    })
  )
}

const partnerSubject = (partnerId: number): string => `partner:${partnerId}`

const badUrl = (sentence: string): Refusal => invalidBody({ sentence, errors: { url: sentence } })

/** `whs_` and 32 random bytes in base64url, 43 characters; the key of the signature is the whole string. */
const makeWebhookSecret = (): string => `whs_${randomBytes(32).toString("base64url")}`

const stateOf = ({ url, state, createdAt, updatedAt }: EndpointRow): WebhookEndpoint => ({
  url,
  active: state === "ACTIVE",
  createdAt,
  updatedAt
})

/** A row of the delivery log as partners and operators see it. */
export const deliveryView = (row: DeliveryRow): WebhookDelivery => {
  const { attempts, lastStatus, error, sentAt, nextAt } = row.context
  const { clientUid } = JSON.parse(row.body) as { readonly clientUid: string | null }
  return {
    deliveryId: row.id,
    event: row.event,
    clientId: row.clientId,
    clientUid,
    status: row.state,
    attempts,
    lastStatus,
    error,
    ts: row.ts,
    sentAt,
    nextAt
  }
}
