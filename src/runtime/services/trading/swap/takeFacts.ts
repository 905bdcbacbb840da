/** Gathers the inputs for the gates of a take, in a turn or outside one. Explain and take share them (STS-1). */
import { type RequestedTake, type TakeFacts, takeFigures } from "../../../../machines/swap/takeGates.ts"
import { cashAtMost } from "../../../ledger/Ledger.ts"
import type { SwapRow } from "../../../tables/swap.ts"
import type { ClientMoment } from "../../account/clientMoment.ts"
import { blockStatuses, clientContext } from "../../account/clientState.ts"
import type { Offered, SwapMarkets } from "./swapMarkets.ts"

const isOpen = ({ state, closedAt }: SwapRow): boolean => closedAt === null && state !== "REJECTED"

export const takeFacts = (
  at: ClientMoment,
  take: RequestedTake & Pick<Offered, "isRecent">,
  markets: SwapMarkets
): TakeFacts => {
  const { client, state, account, partnerState } = at
  const { risk, recorded, cashOf } = account
  const { asset, market } = take
  const balance = state.all("balances").find(({ currency }) => currency === asset)
  return {
    client: {
      lifecycle: client.state,
      level: client.level,
      restrictions: clientContext(client).restrictions,
      blocks: blockStatuses(state)
    },
    partnerState,
    risk: { riskState: risk.riskState, recorded },
    openSwaps: state.all("swaps").filter(isOpen).length,
    // With a board that is too old, the gates refuse as they do for a disconnected venue.
    venueConnected: markets.connected() && take.isRecent,
    halt: markets.haltOf(market.symbol),
    take,
    figures: takeFigures(take),
    free: asset === "USDC" ? risk.free : cashOf(asset),
    atMost: balance === undefined ? 0n : cashAtMost(state, balance),
    marksFresh: risk.marksFresh
  }
}
