/**
 * Opens and ends knock-out contracts in their client's turn. Each execution and each end that the venue reports applies
 * once. The venue is the authority on prices and times. The service computes the figures from the venue's terms (D5,
 * F9, F12, F15, F17).
 */
import { termsOf } from "../../account/contractHoldings.ts"
import { type ContractEnd, figuresAt, settledPnl } from "../../../../machines/contract/contractFigures.ts"
import type { RfqContext } from "../../../../machines/rfq/Rfq.ts"
import { decimalText, formatAmount, MoneyDecimal } from "../../../../machines/shared/Money.ts"
import type { VenueContract } from "../../../../machines/venue/venueObjects.ts"
import type { OwnedTurn } from "../../../effects/Instance.ts"
import { advance, start } from "../../../effects/advance.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../../engine/mailbox/SubjectState.ts"
import { rowsInTurn } from "../../../engine/mailbox/turnRows.ts"
import type { ContractRow } from "../../../tables/contract.ts"
import type { RfqRow } from "../../../tables/rfq.ts"
import { countEnded, countOpened } from "../../account/accountTotals.ts"
import { breakOfClient } from "../../money/breaks/clientBreaks.ts"

const usdc = (minor: bigint): string => formatAmount(minor, "USDC")

/** A contract that is open in the turn or was changed in it; undefined for others. */
export const contractInTurn = (turn: Turn, id: number): ContractRow | undefined =>
  turn.draft.peek("barrierContracts", String(id)) ?? turn.state.get("barrierContracts", String(id))

/** The contract that a request opened; undefined: the turn does not hold it. */
export const contractOfRfq = (turn: Turn, rfqId: number): ContractRow | undefined =>
  rowsInTurn(turn, "barrierContracts").find((row) => row.rfqId === rfqId)

/** The client's committed open contracts. */
export const contractsIn = (state: SubjectState): ReadonlyArray<ContractRow> => state.all("barrierContracts")

/** Premium and commission of a venue execution, from its terms. */
export const executedFigures = ({ premiumBps, commissionBps }: RfqContext, contract: VenueContract) =>
  figuresAt({
    side: contract.side,
    qty: contract.qty,
    price: contract.entry,
    barrier: contract.barrier,
    takeProfit: contract.takeProfit,
    premiumBps,
    commissionBps
  })

/** Opens the contract that the venue executed for a request. The venue's terms apply, and stay fixed. */
export const openContract = (
  { turn, of }: OwnedTurn,
  rfq: RfqRow,
  venue: VenueContract,
  quoteId: number
): ContractRow => {
  const request = rfq.context
  const figures = executedFigures(request, venue)
  const id = turn.nextId("barrierContract")
  const by = request.accepting === null ? turn.by : { ...turn.by, actor: request.accepting.by }
  const opened = start({ ...turn, by }, "barrierContracts", {
    of,
    input: {
      contractId: id,
      rfqId: rfq.id,
      venueRfqId: request.venueRfqId ?? 0,
      quoteId,
      clientId: rfq.clientId,
      account: request.account,
      symbol: venue.symbol,
      side: venue.side,
      qty: onGrid(venue.qty, request.qtyDecimals),
      entry: onGrid(venue.entry, request.priceDecimals),
      barrier: onGrid(venue.barrier, request.priceDecimals),
      takeProfit: venue.takeProfit === null ? null : onGrid(venue.takeProfit, request.priceDecimals),
      expiryTs: venue.expiryAt,
      expiryDefaulted: request.expiryDefaulted,
      strict: venue.strict,
      premiumBps: request.premiumBps,
      premium: usdc(figures.premium),
      potentialProfit: figures.potentialProfit === null ? null : usdc(figures.potentialProfit),
      commission: usdc(figures.commission),
      leverage: figures.leverage,
      notional: usdc(figures.notional),
      priceDecimals: request.priceDecimals,
      qtyDecimals: request.qtyDecimals,
      venueContractId: venue.id,
      tradeId: venue.tradeId,
      openedAt: venue.openedAt
    },
    columns: {
      id,
      partnerId: rfq.partnerId,
      clientId: rfq.clientId,
      rfqId: rfq.id,
      symbol: venue.symbol,
      currency: "USDC",
      amount: figures.premium,
      commission: figures.commission,
      openedAt: venue.openedAt
    }
  })
  countOpened(turn, opened)
  return opened
}

/** How, when and at which price the venue ended a contract. */
export interface EndFound {
  readonly how: ContractEnd
  readonly at: number
  readonly settlePrice: string
  readonly reason?: string
}

/** Ends a contract and settles it once. Null: it has already ended, and nothing changes. */
export const endContract = (
  { turn, of }: OwnedTurn,
  row: ContractRow,
  { how, at, settlePrice, reason }: EndFound
): ContractRow | null => {
  const pnl = usdc(settledPnl(termsOf(row), how, settlePrice))
  const price = onGrid(settlePrice, row.context.priceDecimals)
  const event = { type: how, at, settlePrice: price, pnl, reason: reason ?? null }
  const ended = advance(turn, "barrierContracts", row, event, { of })
  if (ended !== null) countEnded(turn, ended)
  return ended
}

/** The end of a contract by the venue's report; null: the contract is open there. */
export const endOf = ({ state, settlePrice, endedAt }: VenueContract): EndFound | null =>
  state === "OPEN" || settlePrice === null || endedAt === null ? null : { how: state, at: endedAt, settlePrice }

/** Requests the venue to end a contract at the mark. Null: a tear-up is in flight, or the contract has ended. */
export const tearUp = (turn: Turn, row: ContractRow): ContractRow | null =>
  advance(turn, "barrierContracts", row, { type: "TEAR_UP", attempt: row.context.tearUps + 1 })

/**
 * Handles a contract that the venue does not know: raises an alarm, and opens a break of its premium that pauses money
 * out.
 */
export const unknownAtVenue = (turn: Turn, row: ContractRow): number => {
  advance(turn, "barrierContracts", row, { type: "UNKNOWN_AT_VENUE" })
  return breakOfClient(turn, row, row.amount, `The venue does not know contract ${row.id}.`)
}

const onGrid = (value: string, decimals: number): string => decimalText(new MoneyDecimal(value), decimals)
