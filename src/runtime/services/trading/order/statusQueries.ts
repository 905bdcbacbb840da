/**
 * Durable timers of order status queries. The venue may report that an order which has ended here still works, or has
 * further fills. Memory schedules a query of the order half a second later (`OutOfSync`, `OrderResync`). A crash loses
 * that schedule, and the queries at the start cover working orders only. So the commit that processes the report sets a
 * timer, and the commit that processes the answer clears it.
 *
 * Timers with growing pauses also retry two refused calls: the cancel of an order that has nothing left to reduce, and
 * the amendment of a bound (A2-39, A2-96, D6, F13).
 */
import type { TimerName } from "../../../../machines/timerNames.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { TimerHandler } from "../../../engine/timers/Timers.ts"
import { keyOf } from "../../../tables/Catalogue.ts"
import { ownedTurn } from "../../account/ownedTurn.ts"
import type { Directory } from "../../partners/Directory.ts"
import { cancelAgain } from "./orderDecisions.ts"
import type { OutOfSync } from "../../venue/OutOfSync.ts"

/** The time until a query timer fires, business ms. It is longer than a query usually takes. */
const queryAfter = 5_000
/** The interval at which a query timer fires again while there is no answer, business ms. */
const queryAgainAfter = 60_000

const nameOf = (orderId: number): TimerName => `order.ask:${orderId}`

/** The id of the order that a query timer names; null: another kind of timer. */
export const orderOfTimer = (name: string): number | null =>
  name.startsWith("order.ask:") ? Number(name.slice("order.ask:".length)) : null

const setTimer = (turn: Turn, orderId: number, dueAt: number): void =>
  turn.draft.put("timers", { subject: turn.state.subject, name: nameOf(orderId), dueAt })

/** Sets the durable timer that queries the order. */
export const scheduleQuery = (turn: Turn, orderId: number): void => setTimer(turn, orderId, turn.now + queryAfter)

/** Clears the query timer, in the turn that applies the answer. A timer that this turn has set for a further query stays. */
export const queryScheduled = (turn: Turn, orderId: number): void => {
  const name = nameOf(orderId)
  const { subject } = turn.state
  if (turn.draft.peek("timers", keyOf("timers", { subject, name })) === undefined) turn.draft.clearTimer(subject, name)
}

export interface OrderTimerParts {
  readonly directory: Directory["Service"]
  readonly unsettled: OutOfSync["Service"]
}

/** Timer handlers of orders. The timer name holds the id of the order. */
export const orderTimers = ({ directory, unsettled }: OrderTimerParts) =>
  ({
    // The timer only causes a turn: the end of every turn judges the bounds of the client's orders.
    "order.bound": () => {},
    "order.cancel": (turn, _dueAt, id) => cancelAgain(ownedTurn(turn, { directory }), Number(id)),
    "order.ask": (turn, _dueAt, id) => {
      const client = turn.state.one("clients")
      if (client === undefined) return
      const orderId = Number(id)
      unsettled.add({ clientId: client.id, orderId, filledQty: "0", ended: false, wasOver: true })
      setTimer(turn, orderId, turn.now + queryAgainAfter)
    }
  }) as const satisfies Readonly<Record<string, TimerHandler>>
