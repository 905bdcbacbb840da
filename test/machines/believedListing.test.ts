/**
 * A2-114: an impossible part of a listing keeps its last known state, member by member and kind by kind; all other
 * parts follow the venue.
 */
import { assert, describe, it } from "@effect/vitest"
import { believedListing, type ReadListing } from "../../src/machines/market/believedListing.ts"
import type { VenueMarket, VenueStakingMarket } from "../../src/machines/venue/VenueMarket.ts"
import { perpetual, spot } from "../fixtures/orders.ts"
import { knockOut } from "../fixtures/rfqs.ts"
import { stakingMarket } from "../support/ScriptedVenue.ts"

const staking = stakingMarket("BTC-SWAP")
const known: ReadListing = { version: 1, at: 1, markets: [perpetual, spot, knockOut], stakingMarkets: [staking] }
const read = (change: Partial<ReadListing>): ReadListing => ({ ...known, version: 2, at: 2, ...change })
const { listing: before } = believedListing(null, known)

const ofMarket: ReadonlyArray<readonly [change: Partial<VenueMarket>, words: string]> = [
  [{ priceTick: "0" }, "a tick of 0"],
  [{ priceTick: "0.000" }, "a tick of 0.000"],
  [{ qtyStep: "0" }, "a step of 0"],
  [{ maxQty: "0" }, "a largest quantity of 0"],
  [{ minQty: "2", maxQty: "1" }, "a least quantity above the largest, 2 and 1"],
  [{ bandBps: -1 }, "a price band of -1 basis points"],
  [{ bandBps: 0 }, "a price band of 0 basis points"],
  [{ minQty: "-1" }, "a least quantity of -1"],
  [{ qtyStep: "1000", maxQty: "10" }, "a step above the largest quantity, 1000 and 10"],
  [{ minNotional: "-1" }, "a least notional of -1"],
  [{ base: "ETH" }, "the asset ETH instead of BTC"],
  [{ assetClass: "fx" }, "the asset class fx instead of crypto"],
  [{ family: "SPOT" }, "the family SPOT instead of PERP"]
]
const ofStaking: ReadonlyArray<readonly [change: Partial<VenueStakingMarket>, words: string]> = [
  [{ qtyStep: "0" }, "a step of 0"],
  [{ maxQty: "0" }, "a largest quantity of 0"],
  [{ minQty: "2", maxQty: "1" }, "a least quantity above the largest, 2 and 1"],
  [{ minTenorDays: 0 }, "tenors from 0 to 90 days"],
  [{ minTenorDays: 30, maxTenorDays: 7 }, "tenors from 30 to 7 days"],
  [{ maxRateBps: -1 }, "a highest rate of -1 basis points"],
  [{ takerFeeBps: -1 }, "a taker fee of -1 basis points"],
  [{ takerFeeBps: 10_000 }, "a taker fee of 10000 basis points"]
]

describe("A2-114: an impossible listing", () => {
  it.each(ofMarket)("of a market with %j keeps that market, and accepts the others", (change, words) => {
    const halted = { ...spot, halt: { since: 2, message: "Halted." } }
    const said = read({ markets: [{ ...perpetual, ...change }, halted, knockOut] })
    assert.deepStrictEqual(believedListing(before, said), {
      listing: { ...read({}), markets: [perpetual, halted, knockOut] },
      faults: [`the market BTC-USDC-PERP is listed with ${words}`],
      kept: 1
    })
    if (change.family !== undefined || change.base !== undefined || change.assetClass !== undefined) return
    const first = believedListing(null, said).listing.markets
    assert.deepStrictEqual(first, [halted, knockOut], "nothing was known of it")
  })

  it.each(ofStaking)("of a staking market with %j keeps that market", (change, words) => {
    const other = stakingMarket("ETH-SWAP")
    const found = believedListing(before, read({ stakingMarkets: [{ ...staking, ...change }, other] }))
    assert.deepStrictEqual(found.listing.stakingMarkets, [staking, other])
    assert.deepStrictEqual(found.faults, [`the market BTC-SWAP is listed with ${words}`])
  })

  it.each<readonly [string, Partial<ReadListing>, ReadonlyArray<string>]>([
    ["no market", { markets: [] }, ["PERP", "SPOT", "BARRIER"]],
    ["no knock-out", { markets: [perpetual, spot] }, ["BARRIER"]],
    ["no staking market", { stakingMarkets: [] }, ["STAKING"]],
    ["nothing", { markets: [], stakingMarkets: [] }, ["PERP", "SPOT", "BARRIER", "STAKING"]]
  ])("with %s keeps each kind that is missing", (_, change, kinds) => {
    const { listing, faults, kept } = believedListing(before, read(change))
    assert.deepStrictEqual(listing, read({}))
    assert.deepStrictEqual([faults, kept], [kinds.map((kind) => `no ${kind} market is listed any more`), kinds.length])
  })

  it("with a row that can't be read keeps each market that is missing", () => {
    const other = { ...perpetual, symbol: "ETH-USDC-PERP" }
    const { listing, kept } = believedListing(before, read({ markets: [other, knockOut], unreadable: ["{}"] }))
    assert.deepStrictEqual(listing.markets, [perpetual, spot, knockOut, other])
    assert.strictEqual(kept, 2)
  })

  it("with a market twice takes the first row", () => {
    const { listing, faults } = believedListing(before, read({ markets: [...known.markets, { ...spot, maxQty: "7" }] }))
    assert.deepStrictEqual(listing, read({}))
    assert.deepStrictEqual(faults, ["the market ETH-USDC is listed with a second row"])
  })

  it("before any possible one is none", () => {
    assert.deepStrictEqual(believedListing(null, read({ markets: [], stakingMarkets: [] })), {
      listing: read({ markets: [], stakingMarkets: [] }),
      faults: ["no market is listed"],
      kept: 0
    })
  })
})

describe("A2-114: a possible listing", () => {
  it("accepts markets that are delisted, replaced by another one of their kind, new or changed", () => {
    const other = { ...spot, symbol: "SOL-USDC" }
    const finer = { ...knockOut, priceTick: "0.01", bandBps: 20_000 }
    const markets = [other, finer, { ...perpetual, delisted: true, maxQty: "0" }]
    const { listing, faults, kept } = believedListing(before, read({ markets }))
    assert.deepStrictEqual(listing.markets, [{ ...perpetual, delisted: true, maxQty: "0" }, finer, other])
    assert.deepStrictEqual([faults, kept], [[], 0])
    const later = believedListing(listing, read({ markets: [other, finer] }))
    assert.deepStrictEqual(later.listing.markets, [finer, other])
  })
})
