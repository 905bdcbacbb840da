/** The auditor of webhooks against planted mistakes: a crash run detects no more than its auditor. */
import { assert, describe, it } from "@effect/vitest"
import { acknowledge } from "../../simulator/partner/WebhookBehaviour.ts"
import type { DeliveryPayload } from "../../simulator/partner/DeliveryPayload.ts"
import type { ReceivedDelivery } from "../../simulator/partner/WebhookReceiver.ts"
import { judgeWebhooks, type WebhookFacts } from "./webhookAudit.ts"

const ts = 1_700_000_000_000
const bodyOf = (id: number, event: string, data: Record<string, unknown>): DeliveryPayload => ({
  id,
  event,
  partnerId: 7,
  clientId: 3,
  clientUid: "CL-3",
  partnerClientRef: "ref-3",
  ts,
  data
})
const booked = bodyOf(1, "collateral.booked", { reportId: 11 })
const onboarded = bodyOf(2, "client.onboarded", { kycPackageId: 5 })
const decided = bodyOf(3, "client.verification_decision", { kind: "VERIFICATION_DECISION", ref: "3", ts })
const bodies = [booked, onboarded, decided]

const arrivalOf = (body: DeliveryPayload): ReceivedDelivery => ({
  id: body.id,
  event: body.event,
  signatureOk: true,
  fresh: true,
  accepted: true,
  duplicate: false,
  receipts: 1,
  body,
  problem: null,
  reaction: acknowledge
})

const right: WebhookFacts = {
  arrivals: [...bodies, booked].map(arrivalOf),
  stored: bodies.map((body) => ({
    id: body.id,
    event: body.event,
    state: "SENT",
    body: JSON.stringify(body),
    attempts: 1,
    lastStatus: 200,
    error: null
  })),
  events: [booked, onboarded].map(({ event, clientId, data }) => ({
    name: event,
    clientId,
    data: JSON.stringify(data),
    ts
  })),
  feed: [{ kind: "VERIFICATION_DECISION", ref: "3", deliveryId: 3 }],
  log: bodies
    .map(({ id, event, clientId, clientUid }) => ({
      deliveryId: id,
      event,
      clientId,
      clientUid,
      status: "SENT" as const,
      attempts: 1,
      lastStatus: 200,
      error: null,
      ts,
      sentAt: ts,
      nextAt: null
    }))
    .toReversed(),
  pending: 0,
  reports: [11],
  clients: [3],
  canaryConnections: 0
}

const first = <A>([head]: ReadonlyArray<A>): A => head as A

/** Each mistake, and the fault that the auditor must report. */
const mistakes: ReadonlyArray<readonly [string, Partial<WebhookFacts>, RegExp]> = [
  ["a delivery never arrives", { arrivals: [onboarded, decided].map(arrivalOf) }, /1 .* never been acknowledged/],
  [
    "a delivery is marked SENT after an answer 500",
    {
      arrivals: right.arrivals.map((each) =>
        each.id === 2 ? { ...each, accepted: false, reaction: { type: "answer", status: 500 } } : each
      )
    },
    /2 .* never been acknowledged/
  ],
  [
    "a delivery of a rolled-back cause arrives",
    { arrivals: [...right.arrivals, arrivalOf(bodyOf(9, "collateral.booked", { reportId: 12 }))] },
    /9 .* never committed/
  ],
  [
    "a rolled-back delivery's id is used again",
    { arrivals: [...right.arrivals, arrivalOf({ ...booked, data: { reportId: 12 } })] },
    /1 arrived with another body/
  ],
  [
    "a delivery is signed with an old secret",
    {
      arrivals: [...right.arrivals, { ...arrivalOf(booked), accepted: false, problem: "The signature does not fit." }]
    },
    /1 was not believed/
  ],
  ["a delivery is committed without its cause", { events: right.events.slice(1) }, /has no event: collateral/],
  ["a cause is committed without its delivery", { events: [...right.events, first(right.events)] }, /has no delivery/],
  ["an entry of the feed is never forwarded", { feed: [{ ...first(right.feed), deliveryId: null }] }, /no delivery of/],
  ["an entry of the feed is forwarded twice", { feed: [...right.feed, ...right.feed] }, /no delivery of its own/],
  ["a feed delivery has no entry", { feed: [] }, /3 forwards nothing/],
  ["an acknowledged report is not told", { reports: [11, 12] }, /report 12, which was acknowledged/],
  ["an acknowledged client is not told", { clients: [3, 4] }, /client 4, which was acknowledged/],
  ["a delivery stays open", { stored: right.stored.map((each) => ({ ...each, state: "RETRYING" })) }, /is RETRYING/],
  ["the log leaves one out", { log: right.log.slice(1) }, /log shows other deliveries/],
  ["the log shows one as open", { log: right.log.map((each) => ({ ...each, status: "PENDING" })) }, /as PENDING/],
  ["one stays pending", { pending: 1 }, /1 pending/],
  ["a private address is dialled", { canaryConnections: 1 }, /canary/]
]

describe("the audit of webhooks", () => {
  it("SC-WHK-06: correct deliveries pass, and a second arrival is no fault", () =>
    assert.deepStrictEqual(judgeWebhooks(right), { deliveries: 3, arrivals: 4, duplicates: 1, faults: [] }))

  it.each(mistakes)("SC-WHK-06: detects when %s", (_, planted, sentence) =>
    assert.match(judgeWebhooks({ ...right, ...planted }).faults.join("\n"), sentence)
  )
})
