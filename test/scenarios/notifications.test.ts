/**
 * GET /clients/{clientId}/notifications: fields and order, the meaning of since, more items than one answer holds,
 * invalid cursors (doc 2, Other account reads; doc 3, sweep rules; A2-64, EVT-10).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { NotificationKind } from "../../src/machines/Effects.ts"
import { notificationLimits } from "../../src/machines/shared/Limits.ts"
import { feedEventOf } from "../../src/machines/webhook/feedEventOf.ts"
import { ActorHost } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { clientSubject } from "../../src/runtime/services/account/clientState.ts"
import { advance, dayMillis, get, query } from "../support/Builders.ts"
import { openScenario } from "../support/Scenario.ts"
import { type Answer, operator } from "../support/Service.ts"

const { service, partner, key, client, now, restrict } = await openScenario()

interface Item {
  readonly kind: NotificationKind
  readonly ref: string
  readonly ts: number
  /** The delay of the write after the item's time, ms. */
  readonly late?: number
}

/** Adds items to a client's feed in one commit, like a machine's effects; other tests cover the sources of each kind. */
const notify = (clientId: number, items: ReadonlyArray<Item>) =>
  service.run(
    Effect.flatMap(ActorHost, (host) =>
      host.dispatch({
        subject: clientSubject(clientId),
        by: operator.by,
        decide: (turn) => {
          for (const { late = 0, ...item } of items) {
            const id = turn.nextId("notification")
            turn.draft.put("notifications", {
              id,
              partnerId: partner.partnerId,
              clientId,
              ...item,
              writtenAt: item.ts + late
            })
          }
        }
      })
    )
  )
const read = (clientId: number | string, search = ""): Promise<Answer> =>
  get(service, key, `/clients/${clientId}/notifications${search}`)
const refsOf = ({ json }: Answer): ReadonlyArray<string> => json.data.items.map(({ ref }: Item) => ref)
/** The path and query in the answer's Link header; null: no header. */
const nextOf = ({ headers }: Answer): string | null =>
  /^<\/partner\/v1([^>]+)>; rel="next"$/.exec(String(headers["link"] ?? ""))?.[1] ?? null
const cursorOf = (answer: Answer): string => new URLSearchParams(nextOf(answer)?.split("?")[1]).get("after") ?? ""
const many = (count: number, ts: number, prefix = "m"): ReadonlyArray<Item> =>
  Array.from({ length: count }, (_, n) => ({ kind: "BARRIER_OPENED", ref: `${prefix}${n}`, ts }))

const sinceSentence = "The parameter since must be a whole number of Unix milliseconds."
const afterSentence = "The cursor after must be one that the list of this client's notifications answered."

describe("GET /clients/{clientId}/notifications", () => {
  it("doc 2: {items, since, asOf}, oldest first; event is the webhook's, or null", async () => {
    const id = await client()
    const before = await now()
    const at = before - 60_000
    const kinds: ReadonlyArray<readonly [NotificationKind, string | null]> = [
      ["BARRIER_NEAR_TP", "barrier.near_take_profit"],
      ["BARRIER_NEAR_KO", "barrier.near_barrier"],
      ["BARRIER_EXPIRY_SOON", "barrier.expiry_soon"],
      ["SWAP_SETTLED", "swap.settled"],
      ["SWAP_DEFAULTED", "swap.defaulted"],
      ["RESTRICTION_SET", "margin.restriction_set"],
      ["RESTRICTION_LIFTED", "margin.restriction_lifted"],
      ["VERIFICATION_DECISION", "client.verification_decision"],
      ["MONEY_MOVEMENT", "money.movement"],
      ["BARRIER_OPENED", null],
      ["STATEMENT_READY", "statement.ready"],
      ["BARRIER_SETTLED", null],
      ["RFQ_EXPIRED", null],
      ["MARGIN_CALL", null],
      ["CLOSE_OUT", null],
      ["APPROPRIATENESS_RETAKE", null]
    ]
    assert.includeMembers(
      kinds.map(([kind]) => kind),
      Object.keys(feedEventOf)
    )
    const items = kinds.map(([kind], n) => ({ kind, ref: String(n), ts: at + Math.floor(n / 2) }))
    await notify(id, items)
    const answer = await read(id)
    const { asOf } = answer.json.data
    assert.deepStrictEqual(answer.json, {
      code: 0,
      data: { items: items.map((item, n) => ({ ...item, event: kinds[n]?.[1] })), since: asOf - dayMillis, asOf }
    })
    assert.isAtLeast(asOf, before)
    assert.isNull(nextOf(answer))
  })

  it("doc 2: since is inclusive, 24 hours ago by default, and a future time has nothing", async () => {
    const id = await client()
    const first = await now()
    await notify(id, [
      { kind: "MARGIN_CALL", ref: "first", ts: first },
      { kind: "MARGIN_CALL", ref: "second", ts: first + 1 }
    ])
    await advance(service, 1_000)
    for (const [since, refs] of [
      [0, ["first", "second"]],
      [first - 1, ["first", "second"]],
      [first, ["first", "second"]],
      [first + 1, ["second"]],
      [first + 2, []],
      [Number.MAX_SAFE_INTEGER, []]
    ] as const) {
      const answer = await read(id, `?since=${since}`)
      assert.deepStrictEqual(refsOf(answer), refs)
      assert.strictEqual(answer.json.data.since, since)
    }
    await advance(service, dayMillis)
    assert.deepStrictEqual(refsOf(await read(id)), [])
    const late = (await now()) - dayMillis
    await notify(id, [
      { kind: "MARGIN_CALL", ref: "in time", ts: late + 60_000 },
      { kind: "MARGIN_CALL", ref: "too old", ts: late - 1 }
    ])
    assert.deepStrictEqual(refsOf(await read(id)), ["in time"])
  })

  it.each([
    ["since", "-1", sinceSentence],
    ["since", "1.5", sinceSentence],
    ["since", "01", sinceSentence],
    ["since", "", sinceSentence],
    ["since", "9007199254740992", sinceSentence],
    ["since", "yesterday", sinceSentence],
    ["since", "1&since=2", "The parameter since must be sent once."],
    ["after", "", afterSentence],
    ["after", "x", afterSentence],
    ["after", "MS4x", afterSentence],
    ["after", Buffer.from("9999999999999999.1").toString("base64url"), afterSentence],
    ["after", "a".repeat(4_000), afterSentence],
    ["after", "%00", afterSentence]
  ])("EVT-10: %s=%.30s is refused", async (name, value, sentence) => {
    const { status, json } = await read(await anybody, `?${name}=${value}`)
    assert.strictEqual(status, 400)
    assert.deepStrictEqual(json, {
      code: 4000,
      msg: sentence,
      error: sentence,
      data: { reason: "INVALID_PARAMETERS", errors: { [name]: sentence } }
    })
  })

  it.each([
    [notificationLimits.answerMax - 1, false],
    [notificationLimits.answerMax, false],
    [notificationLimits.answerMax + 1, true]
  ])("doc 2, Limits: of %i items at most 200 are answered, and Link shows whether more exist", async (count, more) => {
    const id = await client()
    await notify(id, many(count, (await now()) - 10))
    const answer = await read(id)
    assert.lengthOf(refsOf(answer), Math.min(count, 200))
    assert.strictEqual(nextOf(answer) !== null, more)
  })

  it("EVT-10: a thousand items of one millisecond, and those around it, are read by Link, each once", async () => {
    const id = await client()
    const at = (await now()) - 1_000
    const before = many(3, at - 1, "before")
    const same = many(1_000, at, "same")
    const behind = many(2, at + 1, "behind")
    await notify(id, behind)
    await notify(id, same.slice(0, 500))
    await notify(id, [...same.slice(500), ...before])
    const seen: Array<string> = []
    const sizes: Array<number> = []
    for (let path: string | null = `/clients/${id}/notifications?since=${at - 1}`; path !== null;) {
      const answer = await get(service, key, path)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.json.data.since, at - 1)
      sizes.push(refsOf(answer).length)
      seen.push(...refsOf(answer))
      path = nextOf(answer)
    }
    assert.deepStrictEqual(
      seen,
      [...before, ...same, ...behind].map(({ ref }) => ref)
    )
    assert.deepStrictEqual(sizes, [200, 200, 200, 200, 200, 5])
  })

  it("EVT-10: since and after both hold; a cursor of another client is none", async () => {
    const id = await client()
    const other = await client()
    const at = (await now()) - 5_000
    await notify(id, [...many(201, at), { kind: "CLOSE_OUT", ref: "last", ts: at + 10 }])
    await notify(other, many(201, at))
    const after = cursorOf(await read(id))
    assert.deepStrictEqual(refsOf(await read(id, `?after=${after}`)), ["m200", "last"])
    assert.deepStrictEqual(refsOf(await read(id, `?after=${after}&since=${at + 1}`)), ["last"])
    assert.deepStrictEqual(refsOf(await read(id, `?after=${after}&since=${at + 11}`)), [])
    const foreign = await read(other, `?after=${after}`)
    assert.strictEqual(foreign.status, 400)
    assert.deepStrictEqual(foreign.json.data, { reason: "INVALID_PARAMETERS", errors: { after: afterSentence } })
  })

  it("SC-WHK-09: an item written too late to be forwarded is in the feed", async () => {
    const id = await client()
    const late = notificationLimits.rereadMillis + 1
    await notify(id, [{ kind: "BARRIER_NEAR_KO", ref: "late", ts: (await now()) - late, late }])
    assert.deepStrictEqual(refsOf(await read(id)), ["late"])
  })

  it("a decision is in its client's feed as soon as it is answered, and in no other feed", async () => {
    const [id, other] = [await client(), await client()]
    const before = await now()
    await restrict(id, "FROZEN")
    const [item, ...rest] = (await read(id, `?since=${before}`)).json.data.items
    assert.deepStrictEqual(item, {
      kind: "RESTRICTION_SET",
      ref: "FROZEN",
      ts: item.ts,
      event: "margin.restriction_set"
    })
    assert.isAtLeast(item.ts, before)
    assert.deepStrictEqual(rest, [])
    assert.deepStrictEqual(refsOf(await read(other)), [])
  })

  it("doc 2: any key may read; foreign clients, unknown clients and ids beyond 2^63 are 404", async () => {
    const reader = await service.partner({}, "READ")
    const trader = await service.partner()
    const id = await service.client(trader.key)
    assert.strictEqual((await get(service, trader.key, `/clients/${id}/notifications`)).status, 200)
    for (const [caller, named] of [
      [reader.key, id],
      [key, id],
      [key, 999_999],
      [key, "9223372036854775808"],
      [key, "abc"]
    ] as const) {
      for (const search of ["", "?since=x", "?after=MS4x"]) {
        const { status, json } = await get(service, caller, `/clients/${named}/notifications${search}`)
        assert.strictEqual(status, 404)
        assert.strictEqual(json.code, 4004)
      }
    }
  })

  it("the feed is read by its own index", async () => {
    await query(
      service,
      "INSERT INTO notifications SELECT -n, 0, -1 - n % 7, 'CLOSE_OUT', 'x', n, n FROM generate_series(1, 20000) AS g(n)"
    )
    await query(service, "ANALYZE notifications")
    const plan = await query<Record<string, string>>(
      service,
      "EXPLAIN SELECT id, kind, ref, ts FROM notifications WHERE client_id = -1 AND (ts, id) > (0, 0) ORDER BY ts, id LIMIT 201"
    )
    await query(service, "DELETE FROM notifications WHERE id < 0")
    const text = plan.map((row) => Object.values(row)[0]).join("\n")
    assert.include(text, "notifications_feed")
    assert.notInclude(text, "Sort")
  })
})

const anybody = client()
