/**
 * The partner's view of its webhooks against the committed causes: each event and each feed entry has exactly one
 * delivery, each delivery has arrived at least once with the bytes that were committed, and nothing else has arrived
 * (doc 3, Webhook registration and delivery; A3-30; SC-WHK-06).
 */
import { Effect, Exit, Schema } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { NotificationKind } from "../../src/machines/Effects.ts"
import { feedEventOf } from "../../src/machines/webhook/feedEventOf.ts"
import { WebhookDelivery } from "../../src/machines/webhook/Webhook.ts"
import type { WebhookDeliveryBody } from "../../simulator/partner/WebhookDeliveryBody.ts"
import type { ReceivedDelivery } from "../../simulator/partner/WebhookReceiver.ts"
import type { StoredDelivery } from "./deliveryBooks.ts"
import type { WebhookCrashWorld } from "./WebhookCrashWorld.ts"

export interface WebhookAudit {
  readonly deliveries: number
  readonly arrivals: number
  /** Acknowledged arrivals of what had been acknowledged before. */
  readonly duplicates: number
  /** Everything that must not be, as sentences. */
  readonly faults: ReadonlyArray<string>
}

/** Call it when all is delivered and nothing is under way. */
export const auditWebhooks = Effect.fnUntraced(function* (world: WebhookCrashWorld): Effect.fn.Return<WebhookAudit> {
  const { arrivals, books, canary, crash, partnerId } = world
  const stored = yield* books.deliveries(partnerId)
  const bodies = new Map(stored.map(({ id, body }) => [id, JSON.parse(body) as WebhookDeliveryBody]))
  const accepted = Map.groupBy(
    arrivals.filter((arrival) => arrival.accepted),
    ({ id }) => id
  )
  const feed = yield* books.feed(partnerId)
  const faults = [
    ...arrivals.flatMap((arrival) => arrivalFaults(arrival, bodies)),
    ...stored.flatMap((row) => storedFaults(row, accepted.has(row.id))),
    ...causeFaults(yield* books.events(partnerId), bodies),
    ...feedFaults(feed, bodies),
    ...journalFaults(world, bodies),
    ...(yield* logFaults(world, stored)),
    ...(canary.connections() === 0 ? [] : [`${canary.connections()} connections reached the canary.`]),
    ...crash.bot.journal.contradictions
  ]
  const receipts = [...accepted.values()].reduce((sum, each) => sum + each.length, 0)
  return { deliveries: stored.length, arrivals: arrivals.length, duplicates: receipts - accepted.size, faults }
})

const arrivalFaults = (
  arrival: ReceivedDelivery,
  bodies: ReadonlyMap<number, WebhookDeliveryBody>
): ReadonlyArray<string> => {
  if (arrival.problem !== null) return [`Delivery ${arrival.id} was not believed: ${arrival.problem}`]
  const body = bodies.get(arrival.id ?? 0)
  if (body === undefined) return [`Delivery ${arrival.id} (${arrival.event}) arrived and was never committed.`]
  return isDeepStrictEqual(arrival.body, body) ? [] : [`Delivery ${arrival.id} arrived with another body.`]
}

const storedFaults = ({ id, event, state, error }: StoredDelivery, arrived: boolean): ReadonlyArray<string> => [
  ...(arrived ? [] : [`Delivery ${id} (${event}) has never been acknowledged by the receiver.`]),
  ...(state === "SENT" ? [] : [`Delivery ${id} is ${state} (${error}).`])
]

/** The event log against the deliveries that are not of the feed, as sets of equal things. */
const causeFaults = (
  events: ReadonlyArray<{ readonly name: string; readonly clientId: number | null; data: string; ts: number }>,
  bodies: ReadonlyMap<number, WebhookDeliveryBody>
): ReadonlyArray<string> => {
  const feedEvents = new Set<string>(Object.values(feedEventOf))
  const open = new Map<string, number>()
  const count = (cause: string, by: number) => void open.set(cause, (open.get(cause) ?? 0) + by)
  const causeOf = (name: string, clientId: number | null, ts: number, data: unknown) =>
    `${name} client ${clientId} at ${ts} ${JSON.stringify(data)}`
  for (const { name, clientId, ts, data } of events) count(causeOf(name, clientId, ts, JSON.parse(data)), 1)
  for (const { event, clientId, ts, data } of bodies.values())
    if (!feedEvents.has(event)) count(causeOf(event, clientId, ts, data), -1)
  return [...open].flatMap(([cause, difference]) =>
    difference === 0
      ? []
      : [difference > 0 ? `A committed event has no delivery: ${cause}` : `A delivery has no event: ${cause}`]
  )
}

const feedFaults = (
  feed: ReadonlyArray<{ readonly kind: string; readonly ref: string; readonly deliveryId: number | null }>,
  bodies: ReadonlyMap<number, WebhookDeliveryBody>
): ReadonlyArray<string> => {
  const feedEvents = new Set<string>(Object.values(feedEventOf))
  const unexplained = new Set([...bodies].flatMap(([id, { event }]) => (feedEvents.has(event) ? [id] : [])))
  const faults = feed.flatMap(({ kind, ref, deliveryId }) => {
    const body = bodies.get(deliveryId ?? 0)
    const known = deliveryId !== null && unexplained.delete(deliveryId)
    return known && body?.event === feedEventOf[kind as NotificationKind] && body.data.ref === ref
      ? []
      : [`The ${kind} of ${ref} has no delivery of its own.`]
  })
  return [...faults, ...[...unexplained].map((id) => `Delivery ${id} forwards nothing of the feed.`)]
}

/** What the service acknowledged to the partner has been told by webhook too. */
const journalFaults = (
  { crash }: WebhookCrashWorld,
  bodies: ReadonlyMap<number, WebhookDeliveryBody>
): ReadonlyArray<string> => {
  const { clients, reports } = crash.bot.journal
  const told = (event: string, of: (body: WebhookDeliveryBody) => unknown) =>
    new Set([...bodies.values()].filter((body) => body.event === event).map(of))
  const booked = told("collateral.booked", ({ data }) => data.reportId)
  const onboarded = told("client.onboarded", ({ clientId }) => clientId)
  return [
    ...[...reports.values()].filter(({ reportId }) => !booked.has(reportId)).map((each) => `report ${each.reportId}`),
    ...[...clients.values()].filter(({ clientId }) => !onboarded.has(clientId)).map((each) => `client ${each.clientId}`)
  ].map((what) => `No delivery tells of ${what}, which was acknowledged.`)
}

const Pending = Schema.fromJsonString(Schema.Struct({ data: Schema.Struct({ pending: Schema.Int }) }))
const Page = Schema.fromJsonString(
  Schema.Struct({
    data: Schema.Struct({ deliveries: Schema.Array(WebhookDelivery), nextBefore: Schema.NullOr(Schema.Int) })
  })
)

/** GET /webhook and the delivery log as the partner reads them: the same ids, all SENT, nothing pending. */
const logFaults = Effect.fnUntraced(function* ({ crash }: WebhookCrashWorld, stored: ReadonlyArray<StoredDelivery>) {
  const read = <S extends Schema.Codec<unknown, unknown>>(path: string, schema: S) =>
    Effect.map(Effect.orDie(crash.client.send({ method: "GET", path: `/partner/v1/webhook${path}` })), ({ body }) => {
      const decoded = Schema.decodeUnknownExit(schema)(body.toString())
      if (Exit.isFailure(decoded)) throw new Error(`GET /webhook${path} answers ${body.toString().slice(0, 200)}`)
      return decoded.value as S["Type"]
    })
  const { data } = yield* read("", Pending)
  const logged: Array<WebhookDelivery> = []
  for (let before = ""; ;) {
    const page = yield* read(`/deliveries?limit=200${before}`, Page)
    logged.push(...page.data.deliveries)
    if (page.data.nextBefore === null) break
    before = `&before=${page.data.nextBefore}`
  }
  const same = isDeepStrictEqual(
    logged.map(({ deliveryId }) => deliveryId).toSorted((a, b) => a - b),
    stored.map(({ id }) => id)
  )
  return [
    ...(data.pending === 0 ? [] : [`GET /webhook says ${data.pending} pending.`]),
    ...(same ? [] : ["The delivery log shows other deliveries than the table has."]),
    ...logged
      .filter(({ status, sentAt }) => status !== "SENT" || sentAt === null)
      .map(({ deliveryId, status }) => `The log shows delivery ${deliveryId} as ${status}.`)
  ]
})
