/**
 * The published identities over random histories of the real service (doc 3, Settlement summary): clientCash equals
 * collateralHeld plus the net of all items, outstanding equals net minus the recorded payments, and no report changes
 * either figure. Each history belongs to one partner; the figures are compared with a model without rows.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { Adjustments } from "../../src/runtime/services/money/ledger/Adjustments.ts"
import { Interfirm } from "../../src/runtime/services/money/settlement/Interfirm.ts"
import { formatAmount } from "../../src/machines/shared/Money.ts"
import { brokenInvariants, collateral, get } from "../support/Builders.ts"
import { operator, startService } from "../support/Service.ts"
import { openService } from "../support/Scenario.ts"

const service = await openService(startService)

type Step =
  | { readonly do: "collateral"; readonly client: number; readonly amount: bigint }
  | { readonly do: "adjust"; readonly client: number; readonly amount: bigint }
  | { readonly do: "record"; readonly ref: number; readonly amount: bigint }
  | {
      readonly do: "report"
      readonly entries: ReadonlyArray<readonly [item: number, settled: boolean]>
      readonly bulk: boolean
    }

const amount = fc.bigInt({ min: -5_000_000_000n, max: 5_000_000_000n }).filter((minor) => minor !== 0n)
const client = fc.nat({ max: 1 })
const entry = fc.tuple(fc.nat({ max: 12 }), fc.boolean())
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant("collateral" as const), client, amount }),
  fc.record({ do: fc.constant("adjust" as const), client, amount }),
  fc.record({ do: fc.constant("record" as const), ref: fc.nat({ max: 3 }), amount }),
  fc.record({
    do: fc.constant("report" as const),
    entries: fc.array(entry, { minLength: 1, maxLength: 6 }),
    bulk: fc.boolean()
  })
)

type Status = "PENDING" | "SETTLED" | "FAILED"
interface Model {
  held: bigint
  recorded: bigint
  readonly items: Array<{ readonly id: number; readonly amount: bigint; status: Status }>
  readonly refs: Set<number>
}

describe("published identities", { timeout: 120_000 }, () => {
  const usdc = (minor: bigint) => formatAmount(minor, "USDC")
  const plain = (minor: bigint) => usdc(minor < 0n ? -minor : minor)

  /** Plays one history and returns the partner's view of it. */
  const play = async (steps: ReadonlyArray<Step>): Promise<void> => {
    const partner = await service.partner()
    const { key } = partner
    const clients = [await service.client(key), await service.client(key)]
    const model: Model = { held: 0n, recorded: 0n, items: [], refs: new Set() }
    const { json: empty } = await get(service, key, "/settlement/items")
    assert.lengthOf(empty.data.items, 0)
    for (const [n, each] of steps.entries()) {
      if (each.do === "collateral") {
        const direction = each.amount > 0n ? "DEPOSIT" : "WITHDRAWAL"
        const body = { partnerRef: `r-${n}`, direction, amount: plain(each.amount) }
        const { status } = await collateral(service, key, clients[each.client] as number, body)
        if (status === 201) model.held += each.amount
      } else if (each.do === "adjust") {
        const request = { currency: "USDC", amount: usdc(each.amount), reason: "t" }
        const verdict = await service.run(
          Effect.flatMap(Adjustments, (adjustments) =>
            adjustments.adjust(operator, String(clients[each.client]), request)
          ).pipe(Effect.provide(Adjustments.layer))
        )
        if (!verdict.ok) continue
        const [item] = (await get(service, key, "/settlement/items?limit=1")).json.data.items
        model.items.push({ id: item.itemId, amount: each.amount, status: "PENDING" })
      } else if (each.do === "record") {
        const request = { amount: usdc(each.amount), periodFrom: 0, periodTo: 0, txRef: `t-${each.ref}` }
        const verdict = await service.run(
          Effect.flatMap(Interfirm, (interfirm) => interfirm.record(operator, partner.code, request)).pipe(
            Effect.provide(Interfirm.layer)
          )
        )
        if (!verdict.ok || model.refs.has(each.ref)) continue
        model.refs.add(each.ref)
        model.recorded += each.amount
      } else await send(key, n, each, model)
    }
    await compare(key, model)
  }

  const send = async (
    key: string,
    n: number,
    { entries, bulk }: Step & { do: "report" },
    model: Model
  ): Promise<void> => {
    const bodies = entries.map(([item, settled]) => ({
      itemId: model.items[item % Math.max(1, model.items.length)]?.id ?? 999_999_999,
      ...(settled ? { status: "SETTLED", partnerTxRef: `tx-${n}` } : { status: "FAILED" })
    }))
    if (bulk) {
      await service.call("POST", "/partner/v1/settlement/report", {
        key,
        body: { items: bodies },
        headers: { "idempotency-key": `b-${n}` }
      })
    } else {
      for (const { itemId, ...body } of bodies) {
        await service.call("POST", `/partner/v1/settlement/items/${itemId}/report`, { key, body })
      }
    }
    for (const { itemId, status } of bodies) {
      const item = model.items.find(({ id }) => id === itemId)
      if (item !== undefined && item.status !== "SETTLED") item.status = status as Status
    }
  }

  const compare = async (key: string, { held, recorded, items }: Model): Promise<void> => {
    const shown = (await get(service, key, "/settlement/summary")).json.data.currencies[0]
    const sum = (list: ReadonlyArray<{ readonly amount: bigint }>) =>
      list.reduce((total, each) => total + each.amount, 0n)
    const figures = (status: Status) => {
      const own = items.filter((item) => item.status === status)
      const [credits, debits] = [own.filter((item) => item.amount > 0n), own.filter((item) => item.amount < 0n)]
      return { count: own.length, amount: usdc(sum(own)), credits: usdc(sum(credits)), debits: usdc(-sum(debits)) }
    }
    const net = sum(items)
    assert.deepStrictEqual(shown, {
      currency: "USDC",
      pending: figures("PENDING"),
      settled: figures("SETTLED"),
      failed: figures("FAILED"),
      collateralHeld: usdc(held),
      clientCash: usdc(held + net),
      interfirm: {
        currency: "USDC",
        owedToPartner: usdc(sum(items.filter((item) => item.amount > 0n))),
        owedByPartner: usdc(-sum(items.filter((item) => item.amount < 0n))),
        net: usdc(net),
        settlementsRecorded: usdc(recorded),
        outstanding: usdc(net - recorded)
      }
    })
    const report = (await get(service, key, "/settlement")).json.data
    assert.deepStrictEqual(report.interfirm, shown.interfirm)
    assert.strictEqual(report.currencies[0].closingClientCash, shown.clientCash)
  }

  it("hold after every history of collateral, corrections, single and bulk reports, and payments", async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), play), {
      numRuns: 25,
      endOnFailure: true
    })
    assert.deepStrictEqual(await brokenInvariants(service), [])
  })
})
