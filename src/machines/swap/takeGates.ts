/**
 * The gates of a take, run in a fixed order after the checks of its fields and its offer. The write and `explain` run the
 * same gates: new risk first, then the market, the size and the money (STS-1, F3, F2, F22, F20).
 */
import { account, halt, type OpeningClient, partner, restriction, venue } from "../client/openingGates.ts"
import type { RiskState } from "../margin/accountRisk.ts"
import { gridOf, onGrid, writtenOn } from "../market/Grid.ts"
import type { PartnerStatus } from "../partner/Partner.ts"
import { type Currency, currencyFacts } from "../shared/Currency.ts"
import { compared, floorTo, scaled } from "../shared/Exact.ts"
import { type Gate, gateOf, type Gates, reasonOf, type Rule } from "../shared/Gates.ts"
import { swapLimits } from "../shared/Limits.ts"
import { formatAmount, maxMinor } from "../shared/Money.ts"
import type { Refusal } from "../shared/Refusal.ts"
import type { VenueOffer, VenueStakingMarket } from "../venue/VenueMarket.ts"
import { verificationGate } from "../verification/requirements.ts"
import { swapReward, takerFee } from "./swapFigures.ts"

/** An offer with its market and the requested quantity. */
export interface RequestedTake {
  readonly offer: VenueOffer
  readonly market: VenueStakingMarket
  readonly asset: Currency
  /** The quantity as sent. */
  readonly qty: string
}

/** The figures of a take: amounts in minor units of the asset. */
export interface TakeFigures {
  /** Written with the places of the lot grid. */
  readonly qty: string
  readonly notional: bigint
  readonly reward: bigint
  readonly fee: bigint
}

export interface TakeFacts {
  readonly client: OpeningClient
  readonly partnerState: PartnerStatus
  /** The risk state that live marks imply, and the recorded one. */
  readonly risk: { readonly riskState: RiskState; readonly recorded: RiskState }
  /** The number of the client's swaps, including those that the venue has not answered. A default counts while it has a claim. */
  readonly openSwaps: number
  readonly venueConnected: boolean
  /** The message of a halt that covers the market; null while the market trades. */
  readonly halt: string | null
  readonly take: RequestedTake
  /** Null when the quantity is invalid. */
  readonly figures: TakeFigures | null
  /** The amount that can be reserved: free cash of the asset; for USDC, at most the free margin. */
  readonly free: bigint
  /** The highest possible balance: the one after all pending amounts have returned. */
  readonly atMost: bigint
  /** True when every mark that the account's figures use is fresh. */
  readonly marksFresh: boolean
}

/** Whether the quantity has more decimal places than the asset. Trailing zeros count, as in every amount. */
const isOverlong = ({ asset, qty }: RequestedTake): boolean =>
  (qty.split(".")[1] ?? "").length > currencyFacts[asset].scale

/** A size of the market or the offer, in the form of its grid. */
const sizeOf = ({ market: { qtyStep } }: RequestedTake, size: string): string => writtenOn(size, gridOf(qtyStep))

/** The figures of a quantity. Null when it is off the grid, has too many places, or exceeds the largest amount. */
export const takeFigures = (take: RequestedTake): TakeFigures | null => {
  const { offer, market, asset, qty } = take
  const grid = gridOf(market.qtyStep)
  const { scale } = currencyFacts[asset]
  const on = grid === null || grid.decimals > scale || isOverlong(take) ? null : onGrid(qty, grid)
  if (on === null) return null
  const notional = floorTo(scaled(on.text), scale)
  const reward = swapReward(notional, offer.rateBps, offer.tenorDays)
  const fee = takerFee(notional, market.takerFeeBps)
  return notional + reward + fee > maxMinor ? null : { qty: on.text, notional, reward, fee }
}

const verification: Gate<TakeFacts> = {
  gate: "verification",
  refusal: ({ client: { blocks, level } }) => {
    const refused = verificationGate("TRADE:STAKING", blocks, level, false)
    return refused === null ? null : { _tag: "Unverified", ...refused }
  },
  compared: ({ client: { level } }) => ({ figure: level, limit: "MICA_MIFID" })
}

const sentenceGate = (rule: Rule<TakeFacts>): Gate<TakeFacts> => gateOf(rule, (facts: TakeFacts) => facts)

/** Limits the number of open swaps. The specification sets no limit, so the refusal is that of too many open contracts. */
const openSwaps = sentenceGate({
  gate: "openSwaps",
  reason: "TOO_MANY_SWAPS",
  sentence: ({ openSwaps: count }) =>
    count < swapLimits.open ? null : `The client has ${swapLimits.open} open swaps, which is the most there may be.`,
  compared: ({ openSwaps: count }) => ({ figure: String(count), limit: `fewer than ${swapLimits.open}` })
})

const market = sentenceGate({
  gate: "market",
  reason: ({ take: { market: of } }) => (of.delisted ? "MARKET_DELISTED" : "MARKET_DISABLED"),
  sentence: ({ take: { market: of } }) =>
    of.delisted
      ? "The market is delisted: nothing can be taken in it."
      : of.enabled
        ? null
        : "The market is disabled: nothing can be taken in it at the moment.",
  compared: ({ take: { market: of } }) => ({
    figure: of.delisted ? "delisted" : of.enabled ? "enabled" : "disabled",
    limit: "enabled"
  })
})

/** The gate of a rule on the field `qty`; its sentence is also given for the field. */
const ofQuantity = (rule: Rule<TakeFacts>): Gate<TakeFacts> => ({
  gate: rule.gate,
  compared: rule.compared,
  refusal: (facts): Refusal | null => {
    const sentence = rule.sentence(facts)
    return sentence === null
      ? null
      : { _tag: "Invalid", reason: reasonOf(rule, facts, sentence), sentence, errors: { qty: sentence } }
  }
})

const isMore = (one: string, other: string): boolean => compared(scaled(one), scaled(other)) > 0n

/** The smaller of the market's maximum per take and the remaining quantity of the offer. */
const largestOf = ({ market: of, offer }: RequestedTake): string =>
  isMore(of.maxQty, offer.remainingQty) ? offer.remainingQty : of.maxQty

/** A quantity that is too large passes here whatever its places, because the next rule refuses it. */
const step = ofQuantity({
  gate: "step",
  reason: "OFF_STEP",
  sentence: ({ take, figures }) => {
    const { market: of, asset, qty } = take
    if (figures !== null || isMore(qty, largestOf(take))) return null
    if (isOverlong(take))
      return `The quantity must have at most ${currencyFacts[asset].scale} decimal places for ${asset}.`
    const grid = gridOf(of.qtyStep)
    return grid !== null && onGrid(qty, grid) !== null
      ? "The quantity is too large."
      : `The quantity must be a multiple of ${of.qtyStep}.`
  },
  compared: ({ take: { market: of, qty } }) => ({ figure: qty, limit: `a multiple of ${of.qtyStep}` })
})

const least = ofQuantity({
  gate: "minQty",
  reason: "BELOW_MINIMUM",
  sentence: ({ take, take: { offer, qty } }) =>
    isMore(offer.minQty, qty) ? `The quantity must be at least ${sizeOf(take, offer.minQty)}.` : null,
  compared: ({ take }) => ({ figure: take.qty, limit: `at least ${sizeOf(take, take.offer.minQty)}` })
})

const largest = ofQuantity({
  gate: "maxQty",
  reason: "ABOVE_MAXIMUM",
  sentence: ({ take }) => {
    const { qty, offer, market: of } = take
    if (isMore(qty, offer.remainingQty)) return `Only ${sizeOf(take, offer.remainingQty)} of the offer is left.`
    return isMore(qty, of.maxQty) ? `The quantity must be at most ${sizeOf(take, of.maxQty)}.` : null
  },
  compared: ({ take }) => ({ figure: take.qty, limit: `at most ${sizeOf(take, largestOf(take))}` })
})

/** Requires fresh marks of the whole account, because payments in USDC depend on all its figures. */
const usedMarks = sentenceGate({
  gate: "usedMarks",
  reason: "PRICES_STALE",
  sentence: ({ take: { asset }, marksFresh }) =>
    marksFresh || asset !== "USDC"
      ? null
      : "A market that the account holds a position in has no live price at the moment: try again shortly.",
  compared: ({ take: { asset }, marksFresh }) =>
    asset === "USDC" ? { figure: marksFresh ? "live" : "stale", limit: "live" } : null
})

const costOf = ({ figures }: TakeFacts): bigint => (figures === null ? 0n : figures.notional + figures.fee)

const balance = sentenceGate({
  gate: "balance",
  reason: "INSUFFICIENT_BALANCE",
  sentence: (facts) => {
    const { asset } = facts.take
    const cost = costOf(facts)
    return cost <= facts.free
      ? null
      : `The free ${asset} of ${formatAmount(facts.free, asset)} does not cover notional and fee of ${formatAmount(cost, asset)}.`
  },
  compared: (facts) => ({
    figure: formatAmount(costOf(facts), facts.take.asset),
    limit: `at most ${formatAmount(facts.free, facts.take.asset)}`
  })
})

/** The balance must have room for the reward when it is paid. */
const room = sentenceGate({
  gate: "room",
  reason: "AMOUNT_TOO_LARGE",
  sentence: ({ atMost, figures }) =>
    atMost + (figures?.reward ?? 0n) <= maxMinor ? null : "The reward would take the balance beyond what it can hold.",
  compared: () => null
})

/** Gates of the write and of `explain`, in order. */
export const takeGates: Gates<TakeFacts> = [
  account,
  verification,
  restriction,
  partner,
  openSwaps,
  venue,
  market,
  halt,
  step,
  least,
  largest,
  usedMarks,
  balance,
  room
]
