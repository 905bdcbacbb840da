/**
 * FeedSource and DeliveryFigures over Postgres and over the memory store: the same answers for the same commits, so
 * that the sweep in a simulation behaves as on the database (architecture, Proof; A3-31, A3-38, A3-39).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { notificationLimits } from "../../../src/machines/shared/Limits.ts"
import { feedEventOf } from "../../../src/machines/webhook/feedEventOf.ts"
import type { Commit } from "../../../src/runtime/engine/journal/Commit.ts"
import { DeliveryFigures } from "../../../src/runtime/ports/DeliveryFigures.ts"
import { DeliveryFiguresMemory } from "../../../src/runtime/ports/DeliveryFiguresMemory.ts"
import { feedClaim, FeedSource } from "../../../src/runtime/ports/FeedSource.ts"
import { FeedSourceMemory } from "../../../src/runtime/ports/FeedSourceMemory.ts"
import type { DeliveryRow, NotificationRow } from "../../../src/runtime/tables/webhook.ts"
import { type BothStores, openBothStores } from "../engine/bothStores.ts"
import { clientCommit, commitOf, noon, sampleRows } from "../engine/fixtures.ts"

const [kind = "", event = ""] = Object.entries(feedEventOf)[0] ?? []

const notice = (id: number, parts: Partial<NotificationRow> = {}): NotificationRow => ({
  ...sampleRows(id).notifications,
  clientId: 1,
  kind,
  ts: noon + (id % 3),
  writtenAt: noon + (id % 3),
  ...parts
})

const delivery = (id: number, state: DeliveryRow["state"], sentAt: number | null): DeliveryRow => ({
  ...sampleRows(id).webhookDeliveries,
  state,
  event,
  body: JSON.stringify({ data: { ts: noon + id } }),
  context: { attempts: 1, lastStatus: 204, error: null, sentAt, nextAt: null, tries: [] }
})

const late = notificationLimits.rereadMillis + 1
const commits: ReadonlyArray<Commit> = [
  clientCommit(1, null, { rows: { clients: [sampleRows(1).clients] } }),
  commitOf({
    claims: [{ name: feedClaim(2), owner: 1 }],
    rows: {
      notifications: [
        ...[1, 2, 3, 4, 5].map((id) => notice(id)),
        notice(6, { writtenAt: noon + late }),
        notice(7, { kind: "nothing that is forwarded" }),
        notice(8, { ts: noon - 1, writtenAt: noon - 1 })
      ],
      webhookDeliveries: [
        delivery(1, "SENT", noon + 5),
        delivery(2, "SENT", noon + 9),
        delivery(3, "PENDING", null),
        delivery(4, "RETRYING", null),
        delivery(5, "FAILED", null)
      ]
    }
  })
]

describe("ports of webhooks", () => {
  let both: BothStores
  let feeds: ReadonlyArray<FeedSource["Service"]>
  let figures: ReadonlyArray<DeliveryFigures["Service"]>
  beforeAll(async () => {
    both = await openBothStores(commits)
    feeds = [await both.build(FeedSource, FeedSource.layer), await both.build(FeedSource, FeedSourceMemory.layer(both))]
    figures = [
      await both.build(DeliveryFigures, DeliveryFigures.layer),
      await both.build(DeliveryFigures, DeliveryFiguresMemory.layer(both))
    ]
  })
  afterAll(() => both.close())

  it.each([
    [9, [3, 1, 4, 5]],
    [3, [3, 1, 4]]
  ])(
    "A3-38: the oldest %d unforwarded notifications, in time and of a kind that is forwarded",
    async (limit, expected) => {
      const window = [{ partnerId: 1, from: noon }]
      const [stored, inMemory] = await Promise.all(
        feeds.map((feed) => Effect.runPromise(feed.unforwarded(window, limit)))
      )
      assert.deepStrictEqual(
        stored?.map(({ id }) => id),
        expected
      )
      assert.deepStrictEqual(inMemory, stored)
    }
  )

  it("A3-38: the last one forwarded, or none", async () => {
    for (const feed of feeds) {
      assert.strictEqual(await Effect.runPromise(feed.lastForwarded(1)), noon + 5)
      assert.isNull(await Effect.runPromise(feed.lastForwarded(2)))
      assert.deepStrictEqual(await Effect.runPromise(feed.unforwarded([], 9)), [])
    }
  })

  it("A3-31, A3-39: the number of waiting deliveries, and the time of the last acknowledgement", async () => {
    for (const figure of figures) {
      assert.deepStrictEqual(await Effect.runPromise(figure.of(1)), { lastDeliveryAt: noon + 9, pending: 2 })
      assert.deepStrictEqual(await Effect.runPromise(figure.of(2)), { lastDeliveryAt: null, pending: 0 })
    }
  })
})
