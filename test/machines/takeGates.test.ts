/** The gates of a take, each on both sides, and their order (STS-1; A2-52, F3). */
import { assert, describe, it } from "@effect/vitest"
import { firstRefusal, walkGates } from "../../src/machines/shared/Gates.ts"
import { maxMinor } from "../../src/machines/shared/Money.ts"
import type { Refusal } from "../../src/machines/shared/Refusal.ts"
import { type RequestedTake, type TakeFacts, takeFigures, takeGates } from "../../src/machines/swap/takeGates.ts"
import { blockCodes } from "../../src/machines/verification/Blocks.ts"

const asked: RequestedTake = {
  asset: "ETH",
  qty: "10",
  offer: {
    id: 1,
    symbol: "ETH-SWAP",
    rateBps: 400,
    tenorDays: 7,
    qty: "100",
    remainingQty: "50",
    minQty: "0.010",
    createdAt: 1,
    expiryAt: 2
  },
  market: {
    symbol: "ETH-SWAP",
    name: "Ether staking",
    asset: "ETH",
    enabled: true,
    delisted: false,
    minTenorDays: 1,
    maxTenorDays: 30,
    maxRateBps: 2_000,
    minQty: "0.010",
    qtyStep: "0.001",
    maxQty: "200",
    takerFeeBps: 5
  }
}
const blocks: TakeFacts["client"]["blocks"] = new Map(blockCodes.map((code) => [code, "APPROVED"] as const))
const factsOf = (change: Partial<TakeFacts> = {}, take: Partial<RequestedTake> = {}): TakeFacts => {
  const of = { ...asked, ...take }
  return {
    client: { lifecycle: "ACTIVE", level: "MICA_MIFID", restrictions: [], blocks },
    partnerState: "ACTIVE",
    risk: { riskState: "NORMAL", recorded: "NORMAL" },
    openSwaps: 999,
    venueConnected: true,
    halt: null,
    take: of,
    figures: takeFigures(of),
    free: 1_000_500_000n,
    atMost: 0n,
    marksFresh: true,
    ...change
  }
}
const client = factsOf().client
const sentenceOf = (refusal: Refusal | null) =>
  refusal === null ? null : "sentence" in refusal ? refusal.sentence : refusal._tag

describe("gates of a take", () => {
  it("notional, reward rounded down, fee rounded up (F22)", () => {
    assert.deepStrictEqual(takeFigures(asked), {
      qty: "10.000",
      notional: 1_000_000_000n,
      reward: 767_123n,
      fee: 500_000n
    })
  })

  it("F2: written zeros count up to the asset's places, and limits are shown on the grid", () => {
    assert.strictEqual(takeFigures({ ...asked, qty: "10.00000000" })?.qty, "10.000")
    assert.isNull(takeFigures({ ...asked, qty: "10.000000000" }))
    const limits = walkGates(takeGates, factsOf({}, { qty: "60" })).map((each) => [each.gate, each.compared?.limit])
    assert.includeDeepMembers(limits, [["maxQty", "at most 50.000"]])
  })

  it("pass with exactly the cost", () => assert.isNull(firstRefusal(takeGates, factsOf())))

  /** In the order of the list: each gate refuses even if every later gate would refuse too. */
  const refusing: ReadonlyArray<readonly [string, Partial<TakeFacts>, Partial<RequestedTake>, RegExp]> = [
    ["account", { client: { ...client, lifecycle: "CLOSED" } }, {}, /account is closed/],
    ["verification", { client: { ...client, level: "MICA" } }, {}, /Unverified/],
    ["restriction", { client: { ...client, restrictions: ["NO_NEW_RISK"] } }, {}, /./],
    ["restriction", { risk: { riskState: "NORMAL", recorded: "CLOSE_OUT" } }, {}, /closed out/],
    ["partner", { partnerState: "SUSPENDED" }, {}, /partner is SUSPENDED/],
    ["openSwaps", { openSwaps: 1_000 }, {}, /has 1000 open swaps, which is the most there may be/],
    ["venue", { venueConnected: false }, {}, /venue can not be reached/],
    ["market", {}, { market: { ...asked.market, enabled: false } }, /disabled/],
    ["market", {}, { market: { ...asked.market, delisted: true } }, /delisted/],
    ["halt", { halt: "Maintenance." }, {}, /halted: Maintenance\./],
    ["step", {}, { qty: "10.0005" }, /multiple of 0\.001/],
    ["minQty", {}, { qty: "0.009", offer: { ...asked.offer, minQty: "0.01" } }, /at least 0\.010/],
    ["step", {}, { qty: "10.000000000" }, /at most 8 decimal places for ETH/],
    ["maxQty", {}, { qty: "51" }, /Only 50\.000 of the offer is left/],
    ["maxQty", {}, { qty: "1000000000000000000" }, /Only 50\.000 of the offer is left/],
    ["maxQty", {}, { qty: "40", market: { ...asked.market, maxQty: "39" } }, /at most 39\.000/],
    ["balance", { free: 1_000_499_999n }, {}, /10\.00499999 does not cover notional and fee of 10\.00500000/],
    ["balance", { free: -1n }, {}, /does not cover/],
    ["room", { atMost: maxMinor - 767_122n }, {}, /beyond what it can hold/]
  ]
  it.each(refusing)("%s refuses at its place", (gate, change, take, words) => {
    const facts = factsOf(change, take)
    assert.match(sentenceOf(firstRefusal(takeGates, facts)) ?? "", words)
    const failed = walkGates(takeGates, facts).find(({ result }) => result === "failed")
    assert.strictEqual(failed?.gate, gate)
  })

  it("only USDC is judged by live marks of the whole account (F3)", () => {
    const stale = { marksFresh: false }
    assert.isNull(firstRefusal(takeGates, factsOf(stale)))
    const usdc = { asset: "USDC", market: { ...asked.market, asset: "USDC" } } as const
    assert.match(sentenceOf(firstRefusal(takeGates, factsOf(stale, usdc))) ?? "", /no live price/)
  })

  it("are checked in the order of STS-1", () =>
    assert.deepStrictEqual(
      takeGates.map(({ gate }) => gate),
      [
        "account",
        "verification",
        "restriction",
        "partner",
        "openSwaps",
        "venue",
        "market",
        "halt",
        "step",
        "minQty",
        "maxQty",
        "usedMarks",
        "balance",
        "room"
      ]
    ))
})
