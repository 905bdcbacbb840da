/**
 * The lies of a venue. Each lie changes one object of a message to a state that the venue's books do not hold. A service that
 * compares messages with its requests detects every lie.
 */
import type { VenueOutcome } from "../../../src/machines/venue/venueCalls.ts"
import { objectsOfFact, type VenueFact, type VenueFunding } from "../../../src/machines/venue/VenueEvent.ts"
import type { VenueSwap } from "../../../src/machines/venue/swapAtVenue.ts"
import type { VenueContract, VenueFill, VenueOrder, VenueRfq } from "../../../src/machines/venue/venueObjects.ts"
import type { LieKind } from "../../../src/venue/testerTokens.ts"

/** The objects that a message of the venue can contain, in wire form. Null: the message does not contain this one. */
interface Objects {
  readonly order: VenueOrder | null
  readonly fill: VenueFill | null
  readonly rfq: VenueRfq | null
  readonly contract: VenueContract | null
  readonly swap: VenueSwap | null
  readonly funding: VenueFunding | null
}

/** Multiplies a decimal. The product stays on the decimal's own grid. */
const times = (text: string, factor: number): string => {
  const [whole = "0", fraction = ""] = text.split(".")
  const units = (BigInt(`${whole}${fraction}`) * BigInt(factor)).toString().padStart(fraction.length + 1, "0")
  const at = units.length - fraction.length
  return fraction === "" ? units : `${units.slice(0, at)}.${units.slice(at)}`
}

/** The smallest positive decimal with the same number of places. */
const least = (text: string): string => text.replace(/[0-9](?!$)/g, "0").replace(/[0-9]$/, "1")

const dayMillis = 86_400_000

const other = (side: "BUY" | "SELL"): "BUY" | "SELL" => (side === "BUY" ? "SELL" : "BUY")

type Lie = (objects: Objects) => Objects | null

/** Lies about an object of a message. Null: the message has no such object. */
const about =
  <Name extends keyof Objects>(
    name: Name,
    change: (object: NonNullable<Objects[Name]>, all: Objects) => Objects[Name] | null
  ): Lie =>
  (objects) => {
    const object = objects[name]
    const changed = object === null ? null : change(object as NonNullable<Objects[Name]>, objects)
    return changed === null ? null : { ...objects, [name]: changed }
  }

const ended = ({ entry, openedAt }: VenueContract) => ({ settlePrice: times(entry, 2), endedAt: openedAt }) as const

/** Each lie by the name of its fault. */
const lies: Readonly<Record<LieKind, Lie>> = {
  "false-fill-quantity": about("fill", (fill) => ({ ...fill, qty: times(fill.qty, 10) })),
  "false-fill-side": about("fill", (fill) => ({ ...fill, side: other(fill.side) })),
  // A fill of an order without a price bound gets no false price: only the marks would reveal it, and they may be unknown.
  "false-fill-price": about("fill", (fill, { order }) =>
    order === null || order.price === null
      ? null
      : { ...fill, price: fill.side === "BUY" ? times(fill.price, 3) : least(fill.price) }
  ),
  "false-fill-ref": about("fill", (fill) => ({ ...fill, ref: "O-999999999999" })),
  "false-fill-time": about("fill", (fill) => ({ ...fill, at: Math.max(0, fill.at - 400 * dayMillis) })),
  "false-own-trade": about("fill", (fill) => (fill.reason === null ? { ...fill, reason: "liquidation" } : null)),
  "false-order-side": about("order", (order) => ({ ...order, side: other(order.side) })),
  "false-order-bound": about("order", (order) =>
    order.price === null ? null : { ...order, price: times(order.price, 2) }
  ),
  "false-order-quantity": about("order", (order) => ({ ...order, qty: times(order.qty, 10) })),
  "false-order-state": about("order", (order) =>
    order.filledQty === order.qty || order.state === "FILLED" ? null : { ...order, state: "FILLED" }
  ),
  "false-order-trigger": about("order", ({ trigger, ...order }) =>
    trigger === null ? null : { ...order, trigger: { ...trigger, price: times(trigger.price, 2) } }
  ),
  "false-trigger-time": about("order", (order) => (order.trigger === null ? null : { ...order, triggeredAt: 0 })),
  "false-request-barrier": about("rfq", (rfq) => ({ ...rfq, barrier: times(rfq.barrier, 2) })),
  "false-contract-quantity": about("contract", (contract) => ({ ...contract, qty: times(contract.qty, 100) })),
  "false-contract-entry": about("contract", (contract) => ({ ...contract, entry: times(contract.entry, 2) })),
  "false-contract-barrier": about("contract", (contract) => ({ ...contract, barrier: times(contract.barrier, 2) })),
  "false-contract-side": about("contract", (contract) => ({ ...contract, side: other(contract.side) })),
  "false-early-close": about("contract", (contract) =>
    contract.state === "OPEN" ? { ...contract, ...ended(contract), state: "EARLY_CLOSE" } : null
  ),
  "false-tear-up": about("contract", (contract) =>
    contract.state === "OPEN" ? { ...contract, ...ended(contract), state: "TORN_UP" } : null
  ),
  "false-early-expiry": about("contract", (contract) =>
    contract.state === "OPEN"
      ? { ...contract, state: "EXPIRED", settlePrice: times(contract.entry, 2), endedAt: contract.expiryAt }
      : null
  ),
  "false-contract-time": about("contract", (contract) => ({ ...contract, openedAt: 0 })),
  "false-knock-out": about("contract", (contract) =>
    contract.state === "KNOCKED_OUT" ? { ...contract, settlePrice: times(contract.barrier, 2) } : null
  ),
  "false-swap-notional": about("swap", (swap) => ({ ...swap, notional: times(swap.notional, 100) })),
  "false-swap-reward": about("swap", (swap) => ({ ...swap, reward: times(swap.notional, 3) })),
  "false-swap-time": about("swap", ({ tenorDays, ...swap }) => ({
    ...swap,
    tenorDays,
    openedAt: 0,
    maturityAt: tenorDays * dayMillis
  })),
  "false-swap-fee": about("swap", (swap) => ({ ...swap, fee: times(swap.notional, 2) })),
  "false-swap-end": about("swap", (swap) => (swap.end === null ? { ...swap, end: "FINAL_SETTLEMENT" } : null)),
  "false-stamp": about("funding", ({ mark, settledAt, ...funding }) =>
    mark === null ? null : { ...funding, mark: times(mark, 10), settledAt: settledAt - 400 * dayMillis }
  )
}

const none: Objects = { order: null, fill: null, rfq: null, contract: null, swap: null, funding: null }

/** The message with one lie in its objects. Null: the lie does not apply to them. */
const lieIn = <Message extends object>(kind: LieKind, message: Message, objects: Partial<Objects>): Message | null => {
  const lied = lies[kind]({ ...none, ...objects })
  if (lied === null) return null
  const changed = Object.fromEntries(Object.entries(lied).filter(([key]) => key in message))
  return { ...message, ...changed }
}

/** An event with one lie in it. Null: the lie does not apply to this kind of event. */
export const lieOfFact = <Fact extends VenueFact>(kind: LieKind, fact: Fact): Fact | null =>
  lieIn(kind, fact, fact.type === "funding" ? { funding: fact.funding } : objectsOfFact(fact))

/** An answer or a lookup with one lie in it. Null: the lie does not apply to its objects. */
export const lieOfOutcome = (kind: LieKind, { fills, ...outcome }: VenueOutcome): VenueOutcome | null => {
  const [first, ...others] = fills ?? []
  if (first === undefined) return lieIn(kind, outcome, outcome)
  const lied = lieIn(kind, { ...outcome, fill: first.fill }, { ...outcome, fill: first.fill })
  if (lied === null) return null
  const { fill, ...rest } = lied
  return { ...rest, fills: [{ ...first, fill }, ...others] }
}

/** A trade of an order with one lie in it. Null: the lie is about another object. */
export const lieOfFill = (kind: LieKind, fill: VenueFill): VenueFill | null =>
  lieIn(kind, { fill }, { fill })?.fill ?? null
