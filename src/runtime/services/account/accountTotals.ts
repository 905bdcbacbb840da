/**
 * A client's running totals, each counted in the turn that writes what it counts, so that nobody ever adds up a history
 * (STS-11; A2-60). `ledger verify` proves them against fills and contracts (accountChecks.ts).
 */
import { type AccountTotals, noTotals, outcomeOf } from "../../../machines/account/accountTotals.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { AccountTotalsRow } from "../../store/tables/account.ts"
import type { BarrierContractRow } from "../../store/tables/barrier.ts"
import type { FillRow } from "../../store/tables/order.ts"

type Owner = Pick<AccountTotalsRow, "clientId" | "partnerId">

const add = (turn: Turn, { clientId, partnerId }: Owner, more: Partial<AccountTotals>): void => {
  const key = String(clientId)
  const before = turn.draft.peek("accountTotals", key) ?? turn.state.get("accountTotals", key) ?? noTotals
  turn.draft.put("accountTotals", {
    clientId,
    partnerId,
    fills: before.fills + (more.fills ?? 0),
    fillsPnl: before.fillsPnl + (more.fillsPnl ?? 0n),
    spotPnl: before.spotPnl + (more.spotPnl ?? 0n),
    barrierPnl: before.barrierPnl + (more.barrierPnl ?? 0n),
    stakingPnl: before.stakingPnl + (more.stakingPnl ?? 0n),
    fillsCommission: before.fillsCommission + (more.fillsCommission ?? 0n),
    barrierCommission: before.barrierCommission + (more.barrierCommission ?? 0n),
    stakingCommission: before.stakingCommission + (more.stakingCommission ?? 0n),
    contracts: before.contracts + (more.contracts ?? 0),
    swapTakes: before.swapTakes + (more.swapTakes ?? 0),
    wins: before.wins + (more.wins ?? 0),
    losses: before.losses + (more.losses ?? 0),
    perpFlow: before.perpFlow + (more.perpFlow ?? 0n)
  })
}

/** A trade that is booked. Paid in another currency than USDC, it has no value here: the trade alone counts. */
export const countFill = (
  turn: Turn,
  fill: Owner & Pick<FillRow, "family" | "side" | "currency" | "notional" | "commission" | "realizedPnl">
): void => {
  const { family, side, currency, notional, commission, realizedPnl } = fill
  if (currency !== "USDC") return add(turn, fill, { fills: 1 })
  const flow = side === "BUY" ? -notional : notional
  const realized = family === "PERP" ? { fillsPnl: realizedPnl, perpFlow: flow } : { spotPnl: realizedPnl }
  add(turn, fill, { fills: 1, fillsCommission: commission, ...outcomeOf(realizedPnl), ...realized })
}

/** A contract that is opened. */
export const countOpened = (turn: Turn, contract: BarrierContractRow): void =>
  add(turn, contract, { contracts: 1, barrierCommission: contract.commission })

/** A contract that has ended, once. */
export const countEnded = (turn: Turn, contract: BarrierContractRow): void => {
  if (contract.pnl === null) throw new Error(`contract:${contract.id} has ended without a settlement`)
  add(turn, contract, { barrierPnl: contract.pnl, ...outcomeOf(contract.pnl) })
}
