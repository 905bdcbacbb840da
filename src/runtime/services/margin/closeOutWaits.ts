/**
 * Derives the conditions that a close-out waits for, with reasons, from its client's rows and the present market. It applies the
 * rules of the close-out's next step, without a turn (D23, F9, F10).
 */
import { isGoingOn, pauseAfter } from "../../../machines/margin/CloseOut.ts"
import type { CloseOutDetailWire, CloseOutWait } from "../../../machines/margin/CloseOutDetailWire.ts"
import { type Facts, isFresh } from "../../../machines/market/Facts.ts"
import { isWorking, orderRef } from "../../../machines/order/Order.ts"
import { isNothing } from "../../../machines/shared/Money.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import type { CloseOutRow } from "../../tables/margin.ts"
import type { OrderRow } from "../../tables/order.ts"
import { accountIn } from "../account/accountNow.ts"
import { perpRowsOf } from "../account/perpHoldings.ts"
import { contractsIn } from "../trading/contract/contractDecisions.ts"
import { opensRisk } from "../trading/order/orderDecisions.ts"
import { mayStillOpen } from "../trading/rfq/rfqDecisions.ts"
import { type ClosingMarkets, isUnanswered, pausedUntil, positionsIn } from "./positionClosing.ts"

export interface CloseOutMoment {
  readonly state: SubjectState
  readonly facts: Facts
  readonly markets: ClosingMarkets
  readonly now: number
}

/** The progress of a closing episode's order: SENT without a fill, otherwise PARTIAL; null: the episode is not CLOSING. */
export const stepOf = (state: SubjectState, episode: CloseOutRow): CloseOutDetailWire["step"] => {
  if (episode.state !== "CLOSING") return null
  const order = closingIn(state)
  return order !== undefined && isNothing(order.context.filledQty) ? "SENT" : "PARTIAL"
}

/** All conditions that the close-out waits for. Empty: its next step is due. */
export const waitsOf = (at: CloseOutMoment, episode: CloseOutRow): ReadonlyArray<CloseOutWait> => {
  if (!isGoingOn(episode)) return []
  const order = closingIn(at.state)
  return [
    ...cancelWaits(at, episode),
    ...(order === undefined ? positionWaits(at, episode) : [orderWait(order)]),
    ...contractWaits(at, episode),
    ...(episode.state === "PROTECTING" ? venueWaits(at) : [])
  ]
}

const closingIn = (state: SubjectState): OrderRow | undefined =>
  state.all("orders").find((row) => row.context.origin === "CLOSE_OUT" && isWorking(row))

const cancelWaits = ({ state }: CloseOutMoment, episode: CloseOutRow): ReadonlyArray<CloseOutWait> => {
  const orders = state.all("orders").filter((row) => isWorking(row) && opensRisk(row))
  const requests = state.all("rfqs").filter(mayStillOpen)
  const count = orders.length + requests.length
  if (count === 0) return []
  const why = `${count} ${count === 1 ? "order or request is" : "orders and requests are"} being cancelled that could open`
  return [{ what: "CANCELS", why, until: episode.state === "CANCELLING" ? episode.context.cancelUntil : null }]
}

const orderWait = ({ id, state, context: { side, qty, symbol, filledQty } }: OrderRow): CloseOutWait => ({
  what: "ORDER",
  why: `${orderRef(id)} ${side} ${qty} ${symbol} is ${state === "SENT" ? "sent, and not answered" : "at the venue"}, ${filledQty} filled`,
  until: null
})

const positionWaits = (at: CloseOutMoment, { context }: CloseOutRow): ReadonlyArray<CloseOutWait> => {
  const { state, facts, markets, now } = at
  const { positions } = perpRowsOf(state)
  return positionsIn(accountIn(state, facts).risk.perps, positions, facts, markets).flatMap(
    ({ position, waits }): ReadonlyArray<CloseOutWait> => {
      if (waits !== null) return [{ what: waits.missing, why: waits.why, until: null }]
      const until = pausedUntil(context, position)
      if (until === null || until <= now) return []
      return [{ what: "PAUSE", why: `${position.symbol} did not fill the last order whole`, until }]
    }
  )
}

const contractWaits = ({ state, facts }: CloseOutMoment, episode: CloseOutRow): ReadonlyArray<CloseOutWait> => {
  if (episode.state !== "TEARING_UP" && episode.state !== "WAITING_MARK") return []
  const { marks, takenAt } = facts
  return contractsIn(state).flatMap(({ id, symbol, context: { tearing, tearUps } }): ReadonlyArray<CloseOutWait> => {
    if (tearing) return [{ what: "TEAR_UP", why: `contract ${id} in ${symbol} is being torn up`, until: null }]
    const mark = marks.get(symbol)
    if (mark === undefined || takenAt === null || !isFresh(mark, takenAt))
      return [{ what: "MARK", why: `${symbol} has no live price`, until: null }]
    const { tornAt } = episode.context
    if (tornAt === null || tearUps === 0) return []
    const why = `the venue has refused to tear contract ${id} up`
    return [{ what: "PAUSE", why, until: tornAt + pauseAfter(tearUps) }]
  })
}

/**
 * Venue replies that could still change the cash before a shortfall is written off. The take of a swap does not count:
 * its money repays the write-off later.
 */
const venueWaits = ({ state }: CloseOutMoment): ReadonlyArray<CloseOutWait> => {
  const accepts = state.all("rfqs").filter(({ context }) => context.accepting !== null)
  const refs = [
    ...accepts.map(({ id, context }) => `the accept of quote ${context.accepting?.quoteId} of request ${id}`),
    ...state
      .all("orders")
      .filter(isUnanswered)
      .map(({ id }) => orderRef(id)),
    ...state.all("venueCalls").flatMap(({ call, ref }) => (call === "cancelOrder" ? [ref] : []))
  ]
  return refs.length === 0 ? [] : [{ what: "VENUE", why: `no answer to ${refs.join(", ")}`, until: null }]
}
