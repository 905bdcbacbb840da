/**
 * An account's figures are cached while no input changes. Over random histories of rows, marks, listings and time they
 * equal those of an account that is read again, and no single figure outlives its inputs (F3 to F8).
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { contractInput } from "../../../src/machines/contract/contractSamples.ts"
import { type Facts, type Mark, noFacts } from "../../../src/machines/market/Facts.ts"
import { defaultMarketTerms, leverageProfiles } from "../../../src/machines/market/marketTerms.ts"
import { openRfqInput } from "../../../src/machines/rfq/rfqSamples.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"
import { firstRow } from "../../../src/runtime/effects/machineRow.ts"
import { CommitBuilder } from "../../../src/runtime/engine/journal/Commit.ts"
import type { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import { accountIn, accountInTurn, type AccountNow } from "../../../src/runtime/services/account/accountNow.ts"
import { marginPictureIn } from "../../../src/runtime/services/margin/Margin.ts"
import { contractsNow, micro } from "../../fixtures/contracts.ts"
import { balance } from "../engine/fixtures.ts"
import { accountOf, gold, marketsAt, perp, positionRow, turnAt } from "../order/leverageTurns.ts"
import { clients } from "../rfq/rfqTurns.ts"

const ko = contractInput.symbol
const columns = { partnerId: 1, clientId: 1, symbol: ko, currency: "USDC", amount: 28_500_000n }

const contractRow = (id: number) =>
  firstRow(
    "barrierContracts",
    { ...contractInput, contractId: id, rfqId: 100 + id },
    {
      ...columns,
      id,
      rfqId: 100 + id,
      commission: 120_000n,
      openedAt: 100
    }
  ).row

const requestRow = (accepts: boolean) => {
  const { row } = firstRow("rfqs", openRfqInput, { ...columns, id: 1, createdAt: 0, closeContractId: null })
  const accepting = { quoteId: 7, price: "60000.0", premium: "28.500000", commission: "0.120000", by: "system:router" }
  return { ...row, context: { ...row.context, accepting: accepts ? accepting : null } } as typeof row
}

/** Orders of each kind that counts differently; their ids are their indexes. */
const orders = accountOf({
  cash: "0",
  orders: [
    { qty: "0.5", price: "58000.0" },
    { qty: "0.25", price: "57000.0" },
    { side: "SELL", qty: "0.7", price: "61000.0" },
    { symbol: gold, qty: "2", price: "3900.0" },
    { symbol: gold, side: "SELL", qty: "3", price: null, type: "MARKET" },
    { side: "SELL", qty: "0.3", price: "62000.0", reduceOnly: true }
  ]
}).all("orders")

/** The committed rows of a client, and the market. */
class World {
  readonly state: SubjectState = accountOf({ cash: "10000", positions: [{ netQty: "0.1" }] })
  private now = contractsNow
  private marks = new Map<string, Mark>()
  private listed: Pick<Facts, "instruments" | "terms">

  constructor() {
    const { instruments, terms } = marketsAt({})
    this.listed = { instruments, terms }
  }

  get facts(): Facts {
    return { ...noFacts, takenAt: this.now, marks: this.marks, ...this.listed }
  }

  get account(): AccountNow {
    return accountIn(this.state, this.facts)
  }

  get client() {
    const client = this.state.one("clients")
    if (client === undefined) throw new Error("no client")
    return client
  }

  put(write: (draft: CommitBuilder) => void): void {
    const draft = new CommitBuilder()
    write(draft)
    this.state.adopt(draft.build({ subject: this.state.subject, expected: this.state.token }, null))
  }

  mark(symbol: string, price: string): void {
    const mark = { price: new MoneyDecimal(price), places: 1, at: this.now, current: true }
    this.marks = new Map(this.marks).set(symbol, mark)
  }

  /** Repeats the price with the present time. */
  again(symbol: string): void {
    const mark = this.marks.get(symbol)
    if (mark !== undefined) this.mark(symbol, mark.price.toFixed())
  }

  lost(): void {
    this.marks = new Map([...this.marks].map(([symbol, mark]) => [symbol, { ...mark, current: false }]))
  }

  later(millis: number): void {
    this.now += millis
  }

  relist(assetClass: "crypto" | "metal"): void {
    const instruments = new Map(this.listed.instruments)
    const instrument = instruments.get(gold)
    if (instrument !== undefined) instruments.set(gold, { ...instrument, assetClass })
    this.listed = { ...this.listed, instruments }
  }

  terms(profile: keyof typeof leverageProfiles): void {
    this.listed = { ...this.listed, terms: { ...defaultMarketTerms, leverage: leverageProfiles[profile] } }
  }

  leverage(symbol: string, leverage: number): void {
    this.put((draft) => draft.put("leverages", { clientId: 1, symbol, partnerId: 1, leverage, updatedAt: this.now }))
  }
}

/** The figures in comparable form: a mark by its price, because its time shows only in its freshness. */
const told = ({ cashOf, risk, recorded }: AccountNow) => ({
  cash: [cashOf("USDC"), cashOf("BTC")],
  recorded,
  risk: {
    ...risk,
    perps: risk.perps.map((part) => ({ ...part, mark: part.mark && [part.mark.price.toFixed(), part.mark.places] }))
  }
})

/** The same rows without cached figures. */
const anew = (state: SubjectState): SubjectState => state.after(new CommitBuilder().build(null, null))

const someSymbol = fc.constantFrom(perp, gold, ko)
const somePerp = fc.constantFrom(perp, gold)
const price = (tenths: number) => new MoneyDecimal(tenths).div(10).toFixed(1)
type Step = (world: World) => void

const someStep: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(someSymbol, fc.integer({ min: 300_000, max: 900_000 })).map(
    ([symbol, tenths]): Step =>
      (world) =>
        world.mark(symbol, price(symbol === gold ? tenths / 15 : tenths))
  ),
  someSymbol.map(
    (symbol): Step =>
      (world) =>
        world.again(symbol)
  ),
  fc.constantFrom(1, 4_000, 10_000, 10_001).map(
    (millis): Step =>
      (world) =>
        world.later(millis)
  ),
  fc.constant<Step>((world) => world.lost()),
  fc.constantFrom("crypto" as const, "metal" as const).map(
    (family): Step =>
      (world) =>
        world.relist(family)
  ),
  fc.constantFrom("default" as const, "esma" as const).map(
    (profile): Step =>
      (world) =>
        world.terms(profile)
  ),
  fc.tuple(somePerp, fc.integer({ min: 1, max: 10 })).map(
    ([symbol, chosen]): Step =>
      (world) =>
        world.leverage(symbol, chosen)
  ),
  fc.integer({ min: -9_999, max: 99_999 }).map(
    (cash): Step =>
      (world) =>
        world.put((draft) => draft.put("balances", balance(1, BigInt(cash) * 1_000_000n)))
  ),
  fc.tuple(somePerp, fc.integer({ min: -20, max: 20 }), fc.integer({ min: 30_000, max: 90_000 })).map(
    ([symbol, tenths, entry]): Step =>
      (world) =>
        world.put((draft) => {
          const id = symbol === perp ? 1 : 2
          const held = positionRow(id, { symbol, netQty: String(tenths / 10), avgEntry: String(entry) })
          draft.put("positions", tenths === 0 ? { ...held, state: "FLAT", avgEntry: "0", netCost: "0" } : held)
        })
  ),
  fc.tuple(fc.nat(orders.length - 1), fc.constantFrom("ACKED", "CANCELLED")).map(([at, state]): Step => (world) => {
    const row = orders[at]
    if (row !== undefined) world.put((draft) => draft.put("orders", { ...row, state } as typeof row))
  }),
  fc.tuple(fc.integer({ min: 1, max: 3 }), fc.constantFrom("OPEN", "KNOCKED_OUT")).map(
    ([id, state]): Step =>
      (world) =>
        world.put((draft) =>
          draft.put("barrierContracts", { ...contractRow(id), state } as ReturnType<typeof contractRow>)
        )
  ),
  fc.boolean().map(
    (accepts): Step =>
      (world) =>
        world.put((draft) => draft.put("rfqs", requestRow(accepts)))
  ),
  fc.constantFrom("NORMAL", "MARGIN_CALL").map((state): Step => (world) => {
    const { row } = firstRow("riskMonitors", { clientId: 1 }, { clientId: 1, partnerId: 1 })
    world.put((draft) => draft.put("riskMonitors", { ...row, state } as typeof row))
  }),
  fc.constantFrom("RETAIL" as const, "PROFESSIONAL" as const).map(
    (categorization): Step =>
      (world) =>
        world.put((draft) => draft.put("clients", { ...clients, categorization }))
  )
)

describe("the stored figures of an account", () => {
  it("follow from its rows and the market, after any history", () => {
    fc.assert(
      fc.property(fc.array(someStep, { maxLength: 60 }), (steps) => {
        const world = new World()
        for (const step of steps) {
          step(world)
          const { state, facts, client } = world
          const fresh = anew(state)
          assert.deepStrictEqual(told(accountIn(state, facts)), told(accountIn(fresh, facts)))
          assert.deepStrictEqual(told(accountInTurn(turnAt(state, facts), client)), told(accountIn(fresh, facts)))
          assert.deepStrictEqual(marginPictureIn(state, client, facts), marginPictureIn(fresh, client, facts))
        }
      }),
      { numRuns: 300 }
    )
  })
})

describe("F3: figures and their inputs", () => {
  const standing = () => {
    const world = new World()
    for (const [symbol, mark] of [
      [perp, "60000"],
      [gold, "4000"]
    ] as const)
      world.mark(symbol, mark)
    return { world, before: world.account.risk }
  }

  it("figures stay while marks only repeat, and marks of other markets change", () => {
    const { world, before } = standing()
    world.later(9_000)
    world.again(perp)
    world.mark(gold, "4100")
    world.later(9_000)
    assert.strictEqual(world.account.risk, before)
    assert.isTrue(before.marksFresh)
    assert.strictEqual(
      marginPictureIn(world.state, world.client, world.facts),
      marginPictureIn(world.state, world.client, world.facts)
    )
  })

  it("a mark becomes stale by itself, and is live again with the next message", () => {
    const { world, before } = standing()
    world.later(10_000)
    assert.strictEqual(world.account.risk, before)
    world.later(1)
    assert.isFalse(world.account.risk.marksFresh)
    assert.isFalse(marginPictureIn(world.state, world.client, world.facts).marksFresh)
    world.again(perp)
    assert.isTrue(world.account.risk.marksFresh)
    assert.isTrue(marginPictureIn(world.state, world.client, world.facts).marksFresh)
  })

  it("a lost connection makes the figures stale at once", () => {
    const { world } = standing()
    world.lost()
    assert.isFalse(world.account.risk.marksFresh)
  })

  it("another price, a fill, another leverage, money and a contract change the figures at once", () => {
    const { world } = standing()
    const seen = () => {
      const { positionMargin, unrealizedPnl, equity } = marginPictureIn(world.state, world.client, world.facts)
      return [positionMargin, unrealizedPnl, equity]
    }
    assert.deepStrictEqual(seen(), ["600.000000", "0.000000", "10000.000000"])
    world.mark(perp, "61000")
    assert.deepStrictEqual(seen(), ["610.000000", "100.000000", "10100.000000"])
    world.put((draft) => draft.put("positions", positionRow(1, { netQty: "0.2", avgEntry: "60500" })))
    assert.deepStrictEqual(seen(), ["1220.000000", "100.000000", "10100.000000"])
    world.leverage(perp, 5)
    assert.deepStrictEqual(seen(), ["2440.000000", "100.000000", "10100.000000"])
    world.put((draft) => draft.put("balances", balance(1, micro("9000"))))
    assert.deepStrictEqual(seen(), ["2440.000000", "100.000000", "9100.000000"])
    world.put((draft) => draft.put("barrierContracts", contractRow(1)))
    assert.strictEqual(marginPictureIn(world.state, world.client, world.facts).barriers, 1)
  })

  it("a turn that has written rows sees them", () => {
    const { world } = standing()
    const turn = turnAt(world.state, world.facts)
    const { cashOf } = accountInTurn(turn, world.client)
    turn.draft.put("balances", balance(1, micro("5")))
    assert.strictEqual(accountInTurn(turn, world.client).risk.equity, micro("5"))
    assert.strictEqual(cashOf("USDC"), micro("5"))
    assert.strictEqual(world.account.risk.equity, micro("10000"))
  })
})
