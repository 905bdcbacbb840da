/** Staking swaps as a noun of the venue: takes of offers, and the swaps that they make (Staking.ts has the books). */
import { houseAccounts } from "./Makers.ts"
import { executed, type NounBooks, type NounParts, refused } from "./NounBooks.ts"
import type { Swap } from "./Staking.ts"
import { amountOf } from "./texts.ts"
import { removeOffer } from "./Writers.ts"
import { wireSwap } from "./wire.ts"

export const swapBooks = (parts: NounParts): NounBooks<"swap"> => {
  const wired = (swap: Swap) => wireSwap(parts.stakingMarket(swap.symbol), parts.accountOf(swap.accountId).name, swap)
  return {
    calls: {
      takeOffer: ({ ref, offerId, qty }, account) => {
        const { staking, balances, agenda, clock } = parts
        const offer = staking.offers.get(offerId)
        if (offer === undefined) return refused("unknown offer")
        const market = parts.stakingMarket(offer.symbol)
        const amount = amountOf(qty, market.scale)
        if (amount === null) return refused("quantity off the grid")
        const swap = staking.take({ ref, accountId: account.id, offerId, qty: amount, now: clock.now })
        if (typeof swap === "string") return refused(swap)
        balances.move("swaps", account.id, houseAccounts.venue, market.asset, swap.notional + swap.fee)
        agenda.add(swap.maturityAt, { type: "maturity", swapId: swap.id })
        if (offer.remaining < offer.minQty) removeOffer(parts, offer.id)
        return executed({ swap: swap.id })
      }
    },
    shown: (id) => {
      const swap = parts.staking.swaps.get(id)
      return swap === undefined ? null : wired(swap)
    },
    listed: (account) => [...parts.staking.open].filter(({ accountId }) => accountId === account.id).map(wired),
    isLive: (id) => parts.staking.swaps.get(id)?.end === null
  }
}
