/**
 * F21, F23, STS-10, STS-12: balances and overview of random accounts (every currency, with a fresh, a stale or no mark;
 * swaps in every state; lots of more, less or as much as is held) equal those of a second implementation, to the last
 * unit, and the total is the exact sum of its parts as written.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type AccountTotals, noTotals } from "../../../src/machines/account/accountTotals.ts"
import { balancesWireOf } from "../../../src/machines/account/balancesWire.ts"
import { overviewOf } from "../../../src/machines/account/overview.ts"
import { portfolioOf } from "../../../src/machines/account/portfolio.ts"
import { type LiveSwap, stakedByAsset } from "../../../src/machines/account/stakedSwaps.ts"
import { accountRisk } from "../../../src/machines/margin/accountRisk.ts"
import { holdingMark } from "../../../src/machines/market/holdingMark.ts"
import { formatAmount, usdcMinor } from "../../../src/machines/shared/Money.ts"
import { contractsNow, factsWith, someContract } from "../../fixtures/contracts.ts"
import {
  naiveAverage,
  type NaiveCurrency,
  naiveCost,
  naiveLine,
  type NaivePortfolio,
  naiveShare,
  type NaiveSwap,
  naiveTotals,
  scales
} from "../../fixtures/naivePortfolio.ts"

const codes = Object.keys(scales) as ReadonlyArray<NaiveCurrency>
const someCode = fc.constantFrom(...codes)
const someAmount = fc.bigInt({ min: 0n, max: 10n ** 13n })
const someSmall = fc.bigInt({ min: 0n, max: 1_000n })

const someHeld = fc.uniqueArray(
  fc.record({
    currency: someCode,
    cash: fc.oneof(someAmount, someSmall),
    reserved: fc.oneof(fc.constant(0n), someAmount)
  }),
  { selector: ({ currency }) => currency, maxLength: codes.length }
)
const someSwap: fc.Arbitrary<NaiveSwap> = fc
  .record({
    asset: someCode,
    state: fc.constantFrom("ACCEPTING" as const, "OPEN" as const, "DEFAULTED" as const, "CLOSED" as const),
    notional: fc.bigInt({ min: 1n, max: 10n ** 12n }),
    reward: someAmount,
    paidShare: fc.integer({ min: 0, max: 1_100 }),
    writtenShare: fc.integer({ min: 0, max: 1_000 }),
    maturityTs: fc.integer({ min: 1, max: 2 ** 41 })
  })
  .map(({ paidShare, writtenShare, ...swap }) => {
    const all = swap.notional + swap.reward
    const paid = swap.state === "ACCEPTING" ? 0n : (all * BigInt(paidShare)) / 1_000n
    const left = all > paid ? all - paid : 0n
    return { ...swap, paid, writtenOff: swap.state === "DEFAULTED" ? (left * BigInt(writtenShare)) / 1_000n : 0n }
  })
/** No mark, or this number of tenths; some marks are a year old. */
const someMarks = fc.uniqueArray(
  fc.record({
    currency: fc.constantFrom(...codes.filter((code) => code !== "USDC")),
    tenths: fc.integer({ min: 1, max: 900_000 }),
    isOld: fc.boolean()
  }),
  { selector: ({ currency }) => currency, maxLength: codes.length }
)
const someLots = fc.array(
  fc.record({ asset: someCode, qty: fc.bigInt({ min: 1n, max: 10n ** 13n }), cost: someAmount, commission: someSmall }),
  { maxLength: 8 }
)
const someTotals: fc.Arbitrary<AccountTotals> = fc
  .record({
    fillsPnl: someAmount,
    spotPnl: someSmall,
    barrierPnl: fc.bigInt({ min: -(10n ** 9n), max: 10n ** 9n }),
    stakingPnl: someSmall,
    fillsCommission: someAmount,
    barrierCommission: someSmall,
    stakingCommission: someSmall,
    wins: fc.nat(9),
    losses: fc.nat(9)
  })
  .map((some) => ({ ...noTotals, ...some }))

const usdc = (minor: bigint | null) => (minor === null ? null : formatAmount(minor, "USDC"))
/** An open swap is unchanged; for a defaulted one the service stores the claim. */
const liveOf = ({
  asset,
  state,
  notional,
  reward,
  paid,
  writtenOff,
  maturityTs
}: NaiveSwap): ReadonlyArray<LiveSwap> => {
  if (state !== "OPEN" && state !== "DEFAULTED") return []
  const expectedPayout = notional + reward
  const left = expectedPayout - paid - writtenOff
  return [
    {
      asset,
      state,
      notional,
      reward,
      expectedPayout,
      paid,
      claim: state === "OPEN" || left < 0n ? 0n : left,
      maturityTs
    }
  ]
}

describe("an independent computation of a client's assets", () => {
  it("agrees on every line, every sum and every share", () => {
    const seen = { unvalued: 0, claims: 0, costless: 0, stale: 0, dust: 0 }
    fc.assert(
      fc.property(
        someHeld,
        fc.array(someSwap, { maxLength: 12 }),
        someMarks,
        someLots,
        fc.array(someContract, { maxLength: 2 }),
        someTotals,
        (held, swaps, marks, someOfLots, contracts, totals) => {
          // For half of the assets, the lots equal the holding exactly.
          const lots = [
            ...someOfLots,
            ...held.flatMap(({ currency: asset, cash, reserved }, at) =>
              at % 2 === 0 && cash + reserved > 1n
                ? [
                    { asset, qty: cash + reserved - 1n, cost: cash + 1n, commission: 1n },
                    // For most assets this quantity is worth less than the last decimal place.
                    { asset, qty: 1n, cost: 0n, commission: 0n }
                  ]
                : []
            )
          ]
          const facts = factsWith({
            "BTC-USDC-KO": { price: "60000" },
            ...Object.fromEntries(
              marks.map(({ currency, tenths, isOld }) => [
                `${currency}-USDC`,
                { price: (tenths / 10).toFixed(1), at: contractsNow - (isOld ? 10_001 : 0) }
              ])
            )
          })
          const balances = new Map(held.map((line) => [line.currency, line]))
          const staked = stakedByAsset(swaps.flatMap(liveOf))
          const cashOf = (currency: string) => balances.get(currency as NaiveCurrency)?.cash ?? 0n
          const risk = accountRisk({ cashOf, contracts, accepts: [], perpetuals: [] }, facts)
          const markOf = (currency: NaiveCurrency) => holdingMark(currency, facts)
          const portfolio = portfolioOf({ held: balances, staked, risk, markOf })
          const wire = balancesWireOf(portfolio, risk)
          const overview = overviewOf({ portfolio, staked, risk, totals, funding: 5n, lots, level: "MICA" })
          const naive: NaivePortfolio = {
            held: balances,
            swaps,
            marks: new Map(marks.map(({ currency, tenths }) => [currency, (tenths / 10).toFixed(1)])),
            lots,
            unrealized: risk.unrealizedPnl + risk.barrierUnrealizedPnl
          }
          const all = naiveTotals(naive)
          const parts = wire.portfolio
          assert.deepStrictEqual(
            [parts.holdingsValue, parts.stakedValue, parts.claimsValue],
            [all.holdingsValue, all.stakedValue, all.claimsValue].map(usdc)
          )
          assert.strictEqual(wire.portfolioValue, usdc(all.value))
          assert.strictEqual(parts.holdingsValued, all.isValued)
          const written = [parts.cashTotal, parts.reserved, parts.holdingsValue, parts.stakedValue, parts.unrealizedPnl]
          assert.strictEqual(
            usdcMinor(wire.portfolioValue),
            written.reduce((sum, part) => sum + usdcMinor(part), 0n)
          )
          assert.strictEqual(wire.balances[0]?.currency, "USDC")
          for (const line of wire.balances) {
            const { currency } = line
            const should = naiveLine(currency, naive)
            const text = (minor: bigint) => formatAmount(minor, currency)
            assert.deepInclude(line, {
              cash: text(should.cash),
              reserved: text(should.reserved),
              total: text(should.total),
              value: usdc(should.value),
              staked: text(should.staked),
              swapClaims: text(should.claims),
              stakedValue: usdc(should.stakedValue),
              claimsValue: usdc(should.claimsValue)
            })
            const mark = marks.find((each) => each.currency === currency)
            assert.strictEqual(line.markFresh, currency === "USDC" || mark?.isOld === false)
            if (line.value === null && should.total > 0n) seen.unvalued++
            if (should.claims > 0n) seen.claims++
            if (mark?.isOld === true) seen.stale++
          }
          const shown = new Map(wire.balances.map((line) => [line.currency, line]))
          for (const code of codes)
            if (!shown.has(code)) assert.deepInclude(naiveLine(code, naive), { total: 0n, staked: 0n, claims: 0n })
          assert.sameMembers(
            overview.holdings.map(({ asset }) => asset),
            codes.filter((code) => code !== "USDC" && naiveLine(code, naive).total !== 0n)
          )
          for (const holding of overview.holdings) {
            const { asset } = holding
            const { total, value } = naiveLine(asset, naive)
            const cost = naiveCost(asset, naive)
            if (cost === null) seen.costless++
            else if (lots.some((lot) => lot.asset === asset && lot.cost + lot.commission === 0n)) seen.dust++
            assert.deepStrictEqual(holding, {
              asset,
              qty: formatAmount(total, asset),
              avgCost: usdc(cost === null ? null : naiveAverage(cost, total, asset)),
              cost: usdc(cost),
              value: usdc(value),
              unrealizedPnl: usdc(value === null || cost === null ? null : value - cost)
            })
          }
          for (const row of overview.staked) {
            const should = naiveLine(row.asset, naive)
            const text = (minor: bigint) => formatAmount(minor, row.asset)
            assert.deepStrictEqual(row, {
              asset: row.asset,
              swaps: should.swaps,
              notional: text(should.notional),
              reward: text(should.reward),
              expectedPayout: text(should.notional + should.reward),
              claim: text(should.claims),
              value: usdc(should.stakedValue),
              nextMaturityTs: should.nextMaturityTs
            })
          }
          assert.sameMembers(
            overview.staked.map(({ asset }) => asset),
            codes.filter((code) => naiveLine(code, naive).swaps > 0)
          )
          const buckets = overview.allocation.map(({ value }) => usdcMinor(value))
          const sum = buckets.reduce((total, value) => total + value, 0n)
          for (const { value, pct } of overview.allocation)
            assert.strictEqual(pct.replace(".", "").replace(/^0+(?=\d)/, ""), String(naiveShare(usdcMinor(value), sum)))
          const cash = naiveLine("USDC", naive).total
          assert.strictEqual(sum, all.holdingsValue + all.stakedValue + (cash > 0n ? cash : 0n))
          assert.strictEqual(overview.unrealizedPnl, parts.unrealizedPnl)
          assert.strictEqual(
            usdcMinor(overview.realized.total),
            totals.fillsPnl + totals.spotPnl + totals.barrierPnl + totals.stakingPnl
          )
        }
      ),
      { numRuns: 400, seed: 17 }
    )
    for (const [what, times] of Object.entries(seen)) assert.isAbove(times, 10, what)
  })
})
