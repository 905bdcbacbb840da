/**
 * A client's running totals. Each is updated in the turn that writes its cause, so that no read adds up a history
 * (STS-11; A2-60). `ledger verify` proves them against fills, contracts, swaps and their postings (accountChecks.ts).
 */
import { type AccountTotals, noTotals, outcomeOf } from "../../../machines/account/accountTotals.ts"
import { holdingMark, valueAt } from "../../../machines/market/holdingMark.ts"
import type { Currency } from "../../../machines/shared/Currency.ts"
import { rewardReceived } from "../../../machines/swap/swapFigures.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { AccountTotalsRow } from "../../tables/account.ts"
import type { ContractRow } from "../../tables/contract.ts"
import type { FillRow } from "../../tables/order.ts"
import type { SwapRow } from "../../tables/swap.ts"

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

/**
 * Counts a booked trade. A trade that is paid in another currency than USDC has no value here and adds only to the
 * number of trades.
 */
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

/** Adds an opened contract and its commission to the totals; call it once per contract. */
export const countOpened = (turn: Turn, contract: ContractRow): void =>
  add(turn, contract, { contracts: 1, barrierCommission: contract.commission })

/**
 * Adds the result of an ended contract to the totals; call it once per contract. A contract without a result is a defect.
 */
export const countEnded = (turn: Turn, contract: ContractRow): void => {
  if (contract.pnl === null) throw new Error(`contract:${contract.id} has ended without a settlement`)
  add(turn, contract, { barrierPnl: contract.pnl, ...outcomeOf(contract.pnl) })
}

/** A swap before one of its steps, and after it. */
interface SwapStep {
  readonly before: SwapRow
  readonly after: SwapRow
}

/**
 * Counts one step of a swap. The reward and the charges are valued at the mark of this turn's postings. A closed swap
 * counts as a win or a loss by amount returned minus amount invested. Later receipts may turn a loss into a win
 * (STS-9).
 */
export const countSwap = (turn: Turn, { before, after }: SwapStep): void => {
  const asset = after.currency as Currency
  const mark = holdingMark(asset, turn.facts)
  const valued = (amount: bigint): bigint => (mark === null ? 0n : valueAt(asset, amount, mark))
  const [had, has] = [outcomeOf(resultOf(before)), outcomeOf(resultOf(after))]
  const more = {
    stakingPnl: valued(receivedBy(after) - receivedBy(before)),
    stakingCommission: -valued(before.commission - after.commission),
    swapTakes: Number(wasTaken(after)) - Number(wasTaken(before)),
    wins: has.wins - had.wins,
    losses: has.losses - had.losses
  }
  if (Object.values(more).some((figure) => BigInt(figure) !== 0n)) add(turn, after, more)
}

const receivedBy = ({ amount: notional, reward, paid }: SwapRow): bigint =>
  rewardReceived({ notional, reward }, { paid })

/** True if the venue executed the take. A take that it rejected or never found has no opening time. */
const wasTaken = ({ openedAt }: SwapRow): boolean => openedAt !== null

/** What a closed swap returned minus what was invested, without fee and commission; 0 until the swap is closed. */
const resultOf = ({ closedAt, paid, amount }: SwapRow): bigint => (closedAt === null ? 0n : paid - amount)
