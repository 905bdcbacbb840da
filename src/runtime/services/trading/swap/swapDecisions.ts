/**
 * Starts and advances staking swaps in their client's turn. All transitions go through `stepSwap`, because the client's
 * totals derive from the rows before and after each step (D8).
 */
import { formatAmount } from "../../../../machines/shared/Money.ts"
import type { Currency } from "../../../../machines/shared/Currency.ts"
import type { SwapEvent, SwapInput } from "../../../../machines/swap/Swap.ts"
import type { RequestedTake, TakeFigures } from "../../../../machines/swap/takeGates.ts"
import type { OwnedTurn } from "../../../effects/Instance.ts"
import { advance, start } from "../../../effects/advance.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import { countSwap } from "../../account/accountTotals.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { SwapRow } from "../../../tables/swap.ts"

/** A swap that is live in the turn or was changed in it; undefined for others. */
export const swapInTurn = (turn: Turn, id: number): SwapRow | undefined =>
  turn.draft.peek("swaps", String(id)) ?? turn.state.get("swaps", String(id))

interface Taking {
  readonly take: RequestedTake
  readonly figures: TakeFigures
  readonly commissionRewardBps: number
}

/** Starts a swap with its hold, and sends its call to the venue. */
export const takeSwap = (
  { turn, of }: OwnedTurn,
  client: Pick<ClientRow, "id" | "partnerId" | "uid">,
  { take: { offer, market, asset }, figures, commissionRewardBps }: Taking
): SwapRow => {
  const id = turn.nextId("swap")
  const amount = (minor: bigint): string => formatAmount(minor, asset)
  const input: SwapInput = {
    swapId: id,
    clientId: client.id,
    account: client.uid,
    offerId: offer.id,
    symbol: offer.symbol,
    name: market.name,
    asset,
    qty: figures.qty,
    notional: amount(figures.notional),
    rateBps: offer.rateBps,
    tenorDays: offer.tenorDays,
    reward: amount(figures.reward),
    estimatedFee: amount(figures.fee),
    hold: amount(figures.notional + figures.fee),
    commissionRewardBps,
    createdAt: turn.now
  }
  return start(turn, "swaps", {
    of,
    input,
    columns: {
      id,
      partnerId: client.partnerId,
      clientId: client.id,
      symbol: offer.symbol,
      currency: asset,
      createdAt: turn.now
    }
  })
}

/** Applies an event to a swap, and counts it in the client's totals. Null: its state does not accept the event. */
export const stepSwap = ({ turn, of }: OwnedTurn, row: SwapRow, event: SwapEvent): SwapRow | null => {
  const next = advance(turn, "swaps", row, event, { of })
  if (next !== null) countSwap(turn, { before: row, after: next })
  return next
}

export const assetOf = ({ context }: Pick<SwapRow, "context">): Currency => context.asset
