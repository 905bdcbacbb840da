/** The rows of executions: the fields of A2-71, with references to their objects. */
import { Effect } from "effect"
import { formatAmount } from "../../../../machines/shared/Money.ts"
import type { ExecutionRefs } from "../../../../machines/postingRules.ts"
import type { ModelRow } from "../../../../machines/statement/StatementModel.ts"
import type { SwapContext } from "../../../../machines/swap/Swap.ts"
import { contractsByIds, type StatementContract } from "../../../store/reads/statementContracts.ts"
import type { StatementFill } from "../../../store/reads/statementReads.ts"
import { swapsByIds } from "../../../store/reads/statementSwaps.ts"
import type { BookedEvent } from "./bookedEvents.ts"
import { type Building, type Reading, reading } from "./Building.ts"
import { partOf } from "./swapPostings.ts"
import { textsOf } from "./venueTimes.ts"

const dayAndTime = (ts: number): Pick<ModelRow, "tradingDay" | "tradingTime"> => {
  const iso = new Date(ts).toISOString()
  return { tradingDay: iso.slice(0, 10), tradingTime: iso.slice(11) }
}

/**
 * The row of a fill. `settled`: the amount that was posted for it, minor units. The members stand in the order of their
 * names, so that the many rows need no sorting.
 */
export const fillRow = (venue: string, fill: StatementFill, settled: bigint): ModelRow => {
  const { tradingDay, tradingTime } = dayAndTime(fill.ts)
  return {
    bookedAt: fill.bookedAt,
    commission: formatAmount(fill.commission, fill.currency),
    consideration: formatAmount(settled, fill.currency),
    currency: fill.currency,
    instrument: fill.symbol,
    nature: fill.origin === "CLOSE_OUT" ? "CLOSE_OUT" : fill.closedQty === null ? "TRADE" : "TRADE_CLOSING",
    object: `fill:${fill.id}`,
    orderId: fill.orderId,
    orderType: fill.orderType,
    quantity: fill.qty,
    side: fill.side,
    tradeId: fill.tradeId,
    tradingDay,
    tradingTime,
    unitPrice: fill.price,
    venue,
    venueTs: fill.ts
  }
}

/** Makes rows of the executions other than fills, each with references to its objects. */
export const eventRows = (
  { sql, venue }: Building,
  page: ReadonlyArray<BookedEvent>
): Reading<ReadonlyArray<ModelRow>> =>
  Effect.gen(function* () {
    const idsOf = (of: BookedEvent["of"]) => [...new Set(page.filter((event) => event.of === of).map(({ id }) => id))]
    const contracts = new Map(
      (yield* reading(contractsByIds(sql, idsOf("contract")))).map((found) => [found.id, found])
    )
    const swaps = yield* reading(swapsByIds(sql, idsOf("swap")))
    return page.flatMap((event) => {
      const contract = event.of === "contract" ? contracts.get(event.id) : undefined
      const swap = event.of === "swap" ? swaps.get(event.id) : undefined
      if (event.of === "posting") return postingRow(venue, event)
      if (contract !== undefined) return [contractRow(venue, event, contract)]
      return swap === undefined ? [] : [swapRow(venue, event, swap)]
    })
  })

/** The row of a posting that needs no object: its type has the texts, its refs have the rest (`ExecutionRefs`). */
const postingRow = (venue: string, { ts, posting }: BookedEvent): ReadonlyArray<ModelRow> => {
  const shown = posting === null ? null : textsOf(posting.type)
  if (posting === null || shown === null) return []
  const { object, instrument, tradeId, venueTs } = posting.refs as ExecutionRefs
  const moved = formatAmount(posting.amount < 0n ? -posting.amount : posting.amount, posting.currency)
  const row = { object, bookedAt: ts, venueTs, ...dayAndTime(venueTs), ...shown, venue, instrument, tradeId }
  const { currency } = posting
  return [
    {
      ...row,
      quantity: moved,
      unitPrice: null,
      consideration: moved,
      commission: formatAmount(0n, currency),
      currency,
      orderId: null
    }
  ]
}

const contractRow = (venue: string, { ts, posting }: BookedEvent, { id, context }: StatementContract): ModelRow => {
  const end = posting?.type === "BARRIER_SETTLE"
  const venueTs = end ? (context.closedAt ?? ts) : context.openedAt
  return {
    object: `contract:${id}`,
    bookedAt: ts,
    venueTs,
    ...dayAndTime(venueTs),
    orderType: "RFQ",
    venue,
    instrument: context.symbol,
    side: end ? (context.side === "BUY" ? "SELL" : "BUY") : context.side,
    nature: end ? `BARRIER_END ${context.closeReason ?? ""}`.trim() : "BARRIER_OPEN",
    quantity: context.qty,
    unitPrice: end ? context.settlePrice : context.entry,
    consideration: end ? context.pnl : context.notional,
    commission: end ? "0.000000" : context.commission,
    currency: "USDC",
    orderId: null,
    tradeId: end ? null : context.tradeId
  }
}

/**
 * The row of a swap event. A take lends the notional and costs its fee; a payment by the writer returns principal and
 * reward.
 */
const swapRow = (venue: string, { ts, id, posting, amount, charged }: BookedEvent, swap: SwapContext): ModelRow => {
  const text = (minor: bigint) => formatAmount(minor, swap.asset)
  const isTake = posting?.type === "SWAP_PRINCIPAL"
  const paid = swap.payments.find((payment) => payment.id === posting?.refs["paymentId"])
  const venueTs = (isTake ? swap.openedTs : paid?.at) ?? ts
  const moved = posting === null ? 0n : posting.amount < 0n ? -posting.amount : posting.amount
  return {
    object: `swap:${id}`,
    bookedAt: ts,
    venueTs,
    ...dayAndTime(venueTs),
    orderType: "STAKING",
    venue,
    instrument: swap.symbol,
    side: isTake ? "LEND" : "RETURN",
    nature: isTake ? "SWAP_TAKE" : posting === null ? "SWAP_WRITE_OFF" : "SWAP_PAYMENT",
    quantity: amount ?? text(isTake && posting !== null ? partOf(posting, "notional") : moved),
    unitPrice: null,
    consideration: text(moved),
    commission: text(charged),
    currency: swap.asset,
    orderId: null,
    tradeId: isTake ? swap.tradeId : null
  }
}
