/**
 * Staking swaps in their client's turn (D8): begun by a caller, moved by what the venue says. `stepSwap` is the one place where a
 * swap moves: the row before and after say what was first taken, what of a reward came, and what was charged.
 */
import { formatAmount } from "../../../../machines/shared/Money.ts"
import type { Currency } from "../../../../machines/shared/Currency.ts"
import type { SwapEvent, SwapInput } from "../../../../machines/swap/Swap.ts"
import type { AskedTake, TakeFigures } from "../../../../machines/swap/takeGates.ts"
import type { OwnedTurn } from "../../../effects/Instance.ts"
import { advance, start } from "../../../effects/advance.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import { countSwap } from "../../account/accountTotals.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { SwapRow } from "../../../tables/swap.ts"

/** A swap as the turn sees it: standing, or moved in this turn; undefined for others. */
export const swapInTurn = (turn: Turn, id: number): SwapRow | undefined =>
  turn.draft.peek("swaps", String(id)) ?? turn.state.get("swaps", String(id))

interface Taking {
  readonly asked: AskedTake
  readonly figures: TakeFigures
  readonly commissionRewardBps: number
}

/** A new swap with what is held for it, on its way to the venue from this commit on. */
export const takeSwap = (
  { turn, of }: OwnedTurn,
  client: Pick<ClientRow, "id" | "partnerId" | "uid">,
  { asked: { offer, market, asset }, figures, commissionRewardBps }: Taking
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

/** The swap after an event, counted in its client's totals; null when its state does not take it: nothing is written. */
export const stepSwap = ({ turn, of }: OwnedTurn, row: SwapRow, event: SwapEvent): SwapRow | null => {
  const next = advance(turn, "swaps", row, event, { of })
  if (next !== null) countSwap(turn, { before: row, after: next })
  return next
}

export const assetOf = ({ context }: Pick<SwapRow, "context">): Currency => context.asset
