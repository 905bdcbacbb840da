/**
 * The lies of a venue. Each lie changes one object of a message to a state that the venue's books do not hold. A service that
 * compares messages with its requests detects every lie.
 */
import { objectsOfFact, type VenueFact } from "../../../src/machines/venue/VenueEvent.ts"
import type {
  VenueContract,
  VenueFill,
  VenueOrder,
  VenueRfq,
  VenueSwap
} from "../../../src/machines/venue/venueObjects.ts"

/** Objects in the form that a message has. */
interface Objects {
  readonly order: VenueOrder | null
  readonly fill: VenueFill | null
  readonly rfq: VenueRfq | null
  readonly contract: VenueContract | null
  readonly swap: VenueSwap | null
}

/** Multiplies a decimal. The product stays on the decimal's own grid. */
const times = (text: string, factor: number): string => {
  const [whole = "0", fraction = ""] = text.split(".")
  const units = (BigInt(`${whole}${fraction}`) * BigInt(factor)).toString().padStart(fraction.length + 1, "0")
  const at = units.length - fraction.length
  return fraction === "" ? units : `${units.slice(0, at)}.${units.slice(at)}`
}

/** The least positive decimal on the decimal's own grid. */
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

const early = ({ entry, openedAt }: VenueContract) =>
  ({ state: "EARLY_CLOSE", settlePrice: times(entry, 2), endedAt: openedAt }) as const

/** Each lie under the name of the object and of its false member. */
export const lies = {
  "fill-quantity": about("fill", (fill) => ({ ...fill, qty: times(fill.qty, 10) })),
  "fill-side": about("fill", (fill) => ({ ...fill, side: other(fill.side) })),
  // Without a bound the marks alone judge a price, and they may be unknown.
  "fill-price": about("fill", (fill, { order }) =>
    order === null || order.price === null
      ? null
      : { ...fill, price: fill.side === "BUY" ? times(fill.price, 3) : least(fill.price) }
  ),
  "fill-ref": about("fill", (fill) => ({ ...fill, ref: "O-999999999999" })),
  "fill-time": about("fill", (fill) => ({ ...fill, at: Math.max(0, fill.at - 400 * dayMillis) })),
  "order-side": about("order", (order) => ({ ...order, side: other(order.side) })),
  "order-bound": about("order", (order) => (order.price === null ? null : { ...order, price: times(order.price, 2) })),
  "order-quantity": about("order", (order) => ({ ...order, qty: times(order.qty, 10) })),
  "request-barrier": about("rfq", (rfq) => ({ ...rfq, barrier: times(rfq.barrier, 2) })),
  "contract-quantity": about("contract", (contract) => ({ ...contract, qty: times(contract.qty, 100) })),
  "contract-entry": about("contract", (contract) => ({ ...contract, entry: times(contract.entry, 2) })),
  "contract-barrier": about("contract", (contract) => ({ ...contract, barrier: times(contract.barrier, 2) })),
  "contract-side": about("contract", (contract) => ({ ...contract, side: other(contract.side) })),
  "early-close": about("contract", (contract) =>
    contract.state === "OPEN" ? { ...contract, ...early(contract) } : null
  ),
  "early-expiry": about("contract", (contract) =>
    contract.state === "OPEN"
      ? { ...contract, state: "EXPIRED", settlePrice: times(contract.entry, 2), endedAt: contract.expiryAt }
      : null
  ),
  "contract-time": about("contract", (contract) => ({ ...contract, openedAt: 0 })),
  "knock-out": about("contract", (contract) =>
    contract.state === "KNOCKED_OUT" ? { ...contract, settlePrice: times(contract.barrier, 2) } : null
  ),
  "swap-notional": about("swap", (swap) => ({ ...swap, notional: times(swap.notional, 100) })),
  "swap-reward": about("swap", (swap) => ({ ...swap, reward: times(swap.notional, 3) })),
  "swap-time": about("swap", ({ tenorDays, ...swap }) => ({
    ...swap,
    tenorDays,
    openedAt: 0,
    maturityAt: tenorDays * dayMillis
  })),
  "swap-fee": about("swap", (swap) => ({ ...swap, fee: times(swap.notional, 2) })),
  "swap-end": about("swap", (swap) => (swap.end === null ? { ...swap, end: "FINAL_SETTLEMENT" } : null))
} as const satisfies Readonly<Record<string, Lie>>
export type LieName = keyof typeof lies
export const lieNames = Object.keys(lies) as ReadonlyArray<LieName>

const none: Objects = { order: null, fill: null, rfq: null, contract: null, swap: null }

/** A fact with one lie in it. Null: the lie does not apply to this kind of fact. */
export const lieOfFact = <Fact extends VenueFact>(name: LieName, fact: Fact): Fact | null => {
  const lied = lies[name]({ ...none, ...objectsOfFact(fact) })
  if (lied === null) return null
  const changed = Object.fromEntries(Object.entries(lied).filter(([key]) => key in fact))
  return { ...fact, ...changed }
}
