/**
 * Swaps in every account figure, from the take to the last payment (F21 to F23, STS-10 to STS-12, A2-60, A2-61): in the
 * reserve, staked, claimed or cash again, and never in two places; rewards and charges at the mark of their own
 * booking.
 */
import { assert, describe, it } from "@effect/vitest"
import { MoneyDecimal } from "../../src/machines/shared/Money.ts"
import { openScenario } from "../support/Scenario.ts"
import { stakingSteps, stakingVenue } from "../support/stakingSteps.ts"

const day = 86_400_000
const world = stakingVenue()
const steps = await openScenario({ layerVenue: world.layerVenue, clock: world.clock })
const { lender, offered, take, taken, until, later, read, writeOff, poll } = stakingSteps(
  steps.service,
  steps.key,
  world,
  steps
)

const zero = "0.000000"
const floor = (figure: MoneyDecimal): string => figure.toFixed(6, MoneyDecimal.ROUND_FLOOR)
const times = (amount: string, mark: string): string => floor(new MoneyDecimal(amount).mul(mark))
const sum = (figures: ReadonlyArray<string>): string =>
  figures.reduce((total, figure) => total.plus(figure), new MoneyDecimal(0)).toFixed(6)

// oxlint-disable-next-line typescript/no-explicit-any
type Answer = any
const seen = async (clientId: number, asset = "ETH") => {
  const { balances, portfolio, portfolioValue } = await read(clientId, "/balances")
  const { cashTotal, reserved, holdingsValue, stakedValue, unrealizedPnl } = portfolio
  assert.strictEqual(portfolioValue, sum([cashTotal, reserved, holdingsValue, stakedValue, unrealizedPnl]))
  const line: Answer = balances.find(({ currency }: Answer) => currency === asset)
  const overview = (await read(clientId, "/account/overview")).data
  return { line, portfolio, portfolioValue, overview }
}
/** The value of the swaps' postings, each at its stored mark. */
const booked = async (clientId: number) => {
  const { postings } = (await read(clientId, "/ledger")).data
  const markOf = ({ currency, refs }: Answer): string => (currency === "USDC" ? "1" : refs.mark)
  const settled = postings.filter(({ type }: Answer) => type === "SWAP_SETTLE")
  const charged = postings.filter(({ type, refs }: Answer) => type === "COMMISSION" && refs.swapId !== undefined)
  for (const posting of [...settled, ...charged])
    if (posting.currency !== "USDC") assert.strictEqual(posting.refs.valueUsdc, times(posting.amount, markOf(posting)))
  return {
    staking: sum(settled.map((posting: Answer) => times(posting.refs.reward, markOf(posting)))),
    commission: sum(charged.map((posting: Answer) => times(posting.amount, markOf(posting)).replace("-", "")))
  }
}
const told = async (clientId: number) => {
  const { realizedByFamily, commissionByFamily, counts, realizedTotal } = (await read(clientId, "/account/summary"))
    .data
  const { realized, commission, wins, losses, counts: again } = (await read(clientId, "/account/overview")).data
  assert.deepStrictEqual([realized.staking, commission.staking], [realizedByFamily.staking, commissionByFamily.staking])
  assert.deepStrictEqual([counts, realized.total], [again, realizedTotal])
  return { staking: realized.staking, commission: commission.staking, takes: counts.swapTakes, wins, losses }
}

describe("a swap in the account's figures", () => {
  it("is staked while it is open, and its reward is realized when it is paid", async () => {
    const anna = await lender()
    const { swapId, maturityTs } = await taken(anna, "ETH-SWAP", "10")
    const { line, portfolio, overview } = await seen(anna)
    assert.deepInclude(line, {
      cash: "9.99500000",
      reserved: "0.00000000",
      staked: "10.00000000",
      swapClaims: "0.00000000"
    })
    assert.deepStrictEqual([line.stakedValue, line.value], [times("10", line.mark), times("9.995", line.mark)])
    assert.deepInclude(portfolio, { stakedValue: line.stakedValue, claimsValue: zero, holdingsValue: line.value })
    const [row, ...others] = overview.staked
    assert.deepStrictEqual(others, [])
    assert.deepInclude(row, {
      asset: "ETH",
      swaps: 1,
      notional: "10.00000000",
      reward: "0.00767123",
      expectedPayout: "10.00767123",
      claim: "0.00000000",
      nextMaturityTs: maturityTs
    })
    assert.includeMembers(
      overview.allocation.map(({ bucket }: Answer) => bucket),
      ["CASH", "ETH", "STAKING"]
    )
    assert.deepStrictEqual(await told(anna), { staking: zero, commission: zero, takes: 1, wins: 0, losses: 0 })
    await later(7 * day)
    await until(anna, swapId, ({ state }) => state === "MATURED")
    const after = await seen(anna)
    assert.deepInclude(after.line, { cash: "20.00190411", staked: "0.00000000", stakedValue: zero })
    assert.deepStrictEqual([after.overview.staked, after.portfolio.stakedValue], [[], zero])
    const paid = await booked(anna)
    assert.notStrictEqual(paid.staking, zero)
    assert.deepStrictEqual(await told(anna), { ...paid, takes: 1, wins: 1, losses: 0 })
  }, 60_000)

  it("with a part paid is staked less that part; the first payment is principal, and no result", async () => {
    const anna = await lender()
    const { swapId, contractId } = await taken(anna, "ETH-SWAP", "10")
    world.pay(contractId, "4")
    await until(anna, swapId, ({ paid }) => paid === "4.00000000")
    assert.deepInclude((await seen(anna)).line, { cash: "13.99500000", staked: "6.00000000" })
    assert.deepInclude(await told(anna), { staking: zero, wins: 0 })
    world.pay(contractId, "6.005")
    await until(anna, swapId, ({ paid }) => paid === "10.00500000")
    assert.deepInclude((await seen(anna)).line, { cash: "20.00000000", staked: "0.00000000" })
    assert.deepInclude(await told(anna), { staking: (await booked(anna)).staking, commission: zero, wins: 0 })
    world.pay(contractId)
    await until(anna, swapId, ({ state }) => state === "MATURED")
    assert.deepStrictEqual(await told(anna), { ...(await booked(anna)), takes: 1, wins: 1, losses: 0 })
  }, 60_000)

  it("that is being taken is in the reserve alone, and is no take", async () => {
    const anna = await lender()
    const offerId = await offered("ETH-SWAP")
    const before = await seen(anna)
    world.failing((asked) => (asked === "takeOffer" ? { lost: "before" } : {}))
    await take(anna, offerId, "10").finally(() => world.failing(() => ({})))
    const { line, overview } = await seen(anna)
    assert.deepInclude(line, { reserved: "10.00500000", total: before.line.total, staked: "0.00000000" })
    assert.strictEqual(line.value, times(before.line.total, line.mark))
    assert.deepStrictEqual(overview.staked, [])
    assert.deepInclude(await told(anna), { takes: 0 })
  }, 60_000)

  it("in default is a claim alone; a write-off is a loss, and a later payment may make it a win", async () => {
    const anna = await lender()
    const { swapId, contractId } = await taken(anna, "ETH-SWAP", "10")
    world.defaulting(1)
    await later(7 * day)
    await until(anna, swapId, ({ state }) => state === "DEFAULTED")
    const { line, portfolio, overview } = await seen(anna)
    assert.deepInclude(line, { staked: "0.00000000", stakedValue: zero, swapClaims: "10.00767123" })
    assert.deepStrictEqual([portfolio.stakedValue, portfolio.claimsValue], [zero, times("10.00767123", line.mark)])
    assert.deepInclude(overview.staked[0], {
      swaps: 1,
      notional: "0.00000000",
      claim: "10.00767123",
      nextMaturityTs: null
    })
    assert.deepInclude(await told(anna), { wins: 0, losses: 0, staking: zero })
    await writeOff(swapId, "10.00767123")
    const gone = await seen(anna)
    assert.deepInclude(gone.line, { swapClaims: "0.00000000", claimsValue: zero })
    assert.deepStrictEqual(gone.overview.staked, [])
    assert.deepInclude(await told(anna), { wins: 0, losses: 1, staking: zero })
    world.pay(contractId)
    await until(anna, swapId, ({ state }) => state === "CURED")
    assert.deepStrictEqual(await told(anna), { ...(await booked(anna)), takes: 1, wins: 1, losses: 0 })
  }, 60_000)

  it("of USDC is staked at one, is in no margin, and its reward is worth itself", async () => {
    const anna = await lender({ usdc: "1000.00", eth: "0" })
    const { swapId, reward, estimatedCommission } = await taken(anna, "USDC-SWAP", "400", { qty: "5000" })
    const { line, portfolio, overview } = await seen(anna, "USDC")
    assert.deepInclude(line, { staked: "400.000000", stakedValue: "400.000000" })
    assert.deepInclude(portfolio, { stakedValue: "400.000000", holdingsValue: zero })
    assert.deepStrictEqual([overview.cash, overview.equity], [line.cash, line.cash])
    assert.deepStrictEqual(
      overview.allocation.map(({ bucket }: Answer) => bucket),
      ["CASH", "STAKING"]
    )
    await later(7 * day)
    await until(anna, swapId, ({ state }) => state === "MATURED")
    await poll(
      () => told(anna),
      ({ wins }) => wins === 1
    )
    assert.deepInclude(await told(anna), { staking: reward, commission: estimatedCommission, takes: 1, losses: 0 })
  }, 60_000)
})
