/**
 * Compares the partner's view of its webhooks with the committed causes: each event and each feed entry has exactly one
 * delivery, each delivery has arrived at least once with the committed bytes, and nothing else has arrived (doc 3,
 * Webhook registration and delivery; A3-30; SC-WHK-06).
 */
import { Effect, Schema } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { ForwardedKind } from "../../src/machines/Effects.ts"
import { feedEventOf } from "../../src/machines/webhook/feedEventOf.ts"
import { WebhookDelivery } from "../../src/machines/webhook/Webhook.ts"
import type { PartnerClient } from "../../simulator/partner/PartnerClient.ts"
import type { DeliveryPayload } from "../../simulator/partner/DeliveryPayload.ts"
import type { ReceivedDelivery } from "../../simulator/partner/WebhookReceiver.ts"
import type { StoredDelivery, StoredEvent, StoredNotice } from "./deliveryBooks.ts"
import type { WebhookCrashWorld } from "./WebhookCrashWorld.ts"

export interface WebhookAudit {
  readonly deliveries: number
  readonly arrivals: number
  /** Acknowledged arrivals of deliveries that were acknowledged before. */
  readonly duplicates: number
  /** All violations as sentences. */
  readonly faults: ReadonlyArray<string>
}

/** The data that an audit compares. */
export interface WebhookFacts {
  readonly arrivals: ReadonlyArray<ReceivedDelivery>
  readonly stored: ReadonlyArray<StoredDelivery>
  readonly events: ReadonlyArray<StoredEvent>
  readonly feed: ReadonlyArray<StoredNotice>
  /** The delivery log and `pending` as the partner reads them. */
  readonly log: ReadonlyArray<WebhookDelivery>
  readonly pending: number
  /** Ids of the objects that the service has acknowledged to the partner. */
  readonly reports: ReadonlyArray<number>
  readonly clients: ReadonlyArray<number>
  readonly canaryConnections: number
}

/** Call it when everything is delivered and no request is in flight. */
export const auditWebhooks = Effect.fnUntraced(function* (world: WebhookCrashWorld): Effect.fn.Return<WebhookAudit> {
  const { arrivals, books, canary, crash, partnerId } = world
  const { journal } = crash.bot
  const audit = judgeWebhooks({
    arrivals,
    stored: yield* books.deliveries(partnerId),
    events: yield* books.events(partnerId),
    feed: yield* books.feed(partnerId),
    ...(yield* readLog(crash.client)),
    reports: [...journal.reports.values()].map(({ reportId }) => reportId),
    clients: [...journal.clients.values()].map(({ clientId }) => clientId),
    canaryConnections: canary.connections()
  })
  return { ...audit, faults: [...audit.faults, ...journal.contradictions] }
})

export const judgeWebhooks = (facts: WebhookFacts): WebhookAudit => {
  const { arrivals, stored, canaryConnections } = facts
  const bodies: Bodies = new Map(stored.map(({ id, body }) => [id, JSON.parse(body) as DeliveryPayload]))
  const accepted = new Set(arrivals.filter((arrival) => arrival.accepted).map(({ id }) => id))
  return {
    deliveries: stored.length,
    arrivals: arrivals.length,
    duplicates: duplicatesOf(arrivals),
    faults: [
      ...arrivals.flatMap((arrival) => arrivalFaults(arrival, bodies)),
      ...stored.flatMap((row) => storedFaults(row, accepted.has(row.id))),
      ...eventFaults(facts.events, bodies),
      ...feedFaults(facts.feed, bodies),
      ...acknowledgedFaults(facts, bodies),
      ...logFaults(facts),
      ...(canaryConnections === 0 ? [] : [`${canaryConnections} connections reached the canary.`])
    ]
  }
}

/** Acknowledged arrivals of ids that earlier arrivals had acknowledged. */
export const duplicatesOf = (arrivals: ReadonlyArray<ReceivedDelivery>): number => {
  const ids = arrivals.filter((arrival) => arrival.accepted).map(({ id }) => id)
  return ids.length - new Set(ids).size
}

type Bodies = ReadonlyMap<number, DeliveryPayload>

const feedEvents: ReadonlySet<string> = new Set(Object.values(feedEventOf))

const arrivalFaults = (arrival: ReceivedDelivery, bodies: Bodies): ReadonlyArray<string> => {
  if (arrival.problem !== null) return [`Delivery ${arrival.id} was not believed: ${arrival.problem}`]
  const body = bodies.get(arrival.id ?? 0)
  if (body === undefined) return [`Delivery ${arrival.id} (${arrival.event}) arrived and was never committed.`]
  return isDeepStrictEqual(arrival.body, body) ? [] : [`Delivery ${arrival.id} arrived with another body.`]
}

const storedFaults = ({ id, event, state, error }: StoredDelivery, arrived: boolean): ReadonlyArray<string> => [
  ...(arrived ? [] : [`Delivery ${id} (${event}) has never been acknowledged by the receiver.`]),
  ...(state === "SENT" ? [] : [`Delivery ${id} is ${state} (${error}).`])
]

/** Compares the event log, without transitions of machines, with the deliveries that are not of the feed, as sets. */
const eventFaults = (events: ReadonlyArray<StoredEvent>, bodies: Bodies): ReadonlyArray<string> => {
  const open = new Map<string, number>()
  const count = (cause: string, by: number) => void open.set(cause, (open.get(cause) ?? 0) + by)
  const causeOf = (name: string, clientId: number | null, ts: number, data: unknown) =>
    `${name} client ${clientId} at ${ts} ${JSON.stringify(data)}`
  for (const { name, clientId, ts, data } of events)
    if (name !== "state.changed") count(causeOf(name, clientId, ts, JSON.parse(data)), 1)
  for (const { event, clientId, ts, data } of bodies.values())
    if (!feedEvents.has(event)) count(causeOf(event, clientId, ts, data), -1)
  return [...open].flatMap(([cause, difference]) =>
    difference === 0
      ? []
      : [difference > 0 ? `A committed event has no delivery: ${cause}` : `A delivery has no event: ${cause}`]
  )
}

const feedFaults = (feed: ReadonlyArray<StoredNotice>, bodies: Bodies): ReadonlyArray<string> => {
  const unexplained = new Set([...bodies].flatMap(([id, { event }]) => (feedEvents.has(event) ? [id] : [])))
  const faults = feed.flatMap(({ kind, ref, deliveryId }) => {
    const body = bodies.get(deliveryId ?? 0)
    const known = deliveryId !== null && unexplained.delete(deliveryId)
    return known && body?.event === feedEventOf[kind as ForwardedKind] && body.data.ref === ref
      ? []
      : [`The ${kind} of ${ref} has no delivery of its own.`]
  })
  return [...faults, ...[...unexplained].map((id) => `Delivery ${id} forwards nothing of the feed.`)]
}

/** Checks that each object that the service acknowledged to the partner was also sent by webhook. */
const acknowledgedFaults = ({ clients, reports }: WebhookFacts, bodies: Bodies): ReadonlyArray<string> => {
  const told = (event: string, of: (body: DeliveryPayload) => unknown) =>
    new Set([...bodies.values()].filter((body) => body.event === event).map(of))
  const booked = told("collateral.booked", ({ data }) => data.reportId)
  const onboarded = told("client.onboarded", ({ clientId }) => clientId)
  return [
    ...reports.filter((id) => !booked.has(id)).map((id) => `report ${id}`),
    ...clients.filter((id) => !onboarded.has(id)).map((id) => `client ${id}`)
  ].map((what) => `No delivery tells of ${what}, which was acknowledged.`)
}

const Pending = Schema.fromJsonString(Schema.Struct({ data: Schema.Struct({ pending: Schema.Int }) }))
const Page = Schema.fromJsonString(
  Schema.Struct({
    data: Schema.Struct({ deliveries: Schema.Array(WebhookDelivery), nextBefore: Schema.NullOr(Schema.Int) })
  })
)

/** GET /webhook and the whole delivery log. */
const readLog = Effect.fnUntraced(function* (client: PartnerClient) {
  const read = <A>(path: string, schema: Schema.Codec<A, string>) =>
    Effect.map(Effect.orDie(client.send({ method: "GET", path: `/partner/v1/webhook${path}` })), ({ body }) =>
      Schema.decodeUnknownSync(schema)(body.toString())
    )
  const { pending } = (yield* read("", Pending)).data
  const log: Array<WebhookDelivery> = []
  for (let before = ""; ;) {
    const { deliveries, nextBefore } = (yield* read(`/deliveries?limit=200${before}`, Page)).data
    log.push(...deliveries)
    if (nextBefore === null) return { pending, log }
    before = `&before=${nextBefore}`
  }
})

/** Checks the partner's reads: the ids of the table, all SENT, nothing pending. */
const logFaults = ({ log, pending, stored }: WebhookFacts): ReadonlyArray<string> => {
  const ids = log.map(({ deliveryId }) => deliveryId).toSorted((a, b) => a - b)
  const same = isDeepStrictEqual(
    ids,
    stored.map(({ id }) => id)
  )
  return [
    ...(pending === 0 ? [] : [`GET /webhook says ${pending} pending.`]),
    ...(same ? [] : ["The delivery log shows other deliveries than the table has."]),
    ...log
      .filter(({ status, sentAt }) => status !== "SENT" || sentAt === null)
      .map(({ deliveryId, status }) => `The log shows delivery ${deliveryId} as ${status}.`)
  ]
}
