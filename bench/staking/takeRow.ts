/**
 * The input of a take at a reference, and its stored context: as many data as the service stores (`SwapContext`).
 * Amounts are micro-USDC.
 */
import { formatAmount } from "../../src/machines/shared/Money.ts"
import { swapReward } from "../../src/machines/swap/swapFigures.ts"
import type { HeldOffer } from "./protocol.ts"

/** The body of a take as JSON schema. */
export const takeSchema = {
  type: "object",
  required: ["qty"],
  properties: { qty: { type: "string", pattern: "^(0|[1-9][0-9]{0,11})(\\.[0-9]{1,2})?$" } }
} as const

const commissionRewardBps = 1_000
const leastTake = 100_000n
const largestTake = 500_000_000_000n

/** The notional of a quantity on the lot grid; null: outside of the market's sizes of one take. */
export const notionalOf = (qty: string): bigint | null => {
  const [whole = "0", part = ""] = qty.split(".")
  const notional = BigInt(whole) * 1_000_000n + BigInt(part.padEnd(6, "0"))
  return notional < leastTake || notional > largestTake ? null : notional
}

export interface RequestedSwap extends HeldOffer {
  readonly swapId: number
  readonly clientId: number
  readonly account: string
  readonly qty: string
  readonly notional: bigint
  readonly at: number
}

const text = (minor: bigint): string => formatAmount(minor, "USDC")

/** The stored context of a take before the venue's answer. */
export const contextOf = (asked: RequestedSwap) => {
  const { swapId, clientId, account, offerId, qty, notional, rateBps, tenorDays, at } = asked
  return {
    swapId,
    clientId,
    account,
    offerId,
    symbol: "USDC-SWAP",
    name: "USDC staking",
    asset: "USDC",
    qty,
    notional: text(notional),
    rateBps,
    tenorDays,
    reward: text(swapReward(notional, rateBps, tenorDays)),
    estimatedFee: text(0n),
    hold: text(notional),
    commissionRewardBps,
    createdAt: at,
    contractId: null as number | null,
    tradeId: null as number | null,
    openedTs: null as number | null,
    maturityTs: null as number | null,
    defaultedTs: null,
    closedTs: null,
    fee: text(0n),
    corrections: [],
    payments: [],
    doubts: [],
    paid: "0",
    writtenOff: "0",
    recovered: "0",
    commission: "0",
    charges: 0,
    settleReason: null,
    rejectReason: null,
    ts: at
  }
}
export type Context = ReturnType<typeof contextOf>

/** The answer to an executed take. */
export const answerOf = (context: Context, tradeId: number): string => {
  const { notional, reward } = context
  const expectedPayout = text(minorOfText(notional) + minorOfText(reward))
  return JSON.stringify({
    ...context,
    tradeId,
    venueAsset: "USDC",
    displayDecimals: 2,
    ratePct: (context.rateBps / 100).toFixed(2),
    expectedPayout,
    state: "OPEN",
    outstanding: expectedPayout,
    claim: text(0n)
  })
}

const minorOfText = (amount: string): bigint => BigInt(amount.replace(".", ""))
