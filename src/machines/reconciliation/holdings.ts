/**
 * Compares an account's holdings at the service and at the venue. All kinds of holdings are in one list of figures; a traded
 * product adds its own figures to the service's side (operator surface, sim verify).
 */
import { decimalText, MoneyDecimal } from "../shared/Money.ts"
import type { MoneyFigures } from "./money.ts"
import { tradeFigure, type Trade } from "../venue/trades.ts"
import type { VenueAccount, VenueOrder } from "../venue/venueObjects.ts"

export const holdingKinds = ["position", "order", "trade", "contract", "request", "swap", "money"] as const
export type HoldingKind = (typeof holdingKinds)[number]

export interface Holding {
  readonly kind: HoldingKind
  /**
   * The name of a position is its market; of an order or request, its ref; of a trade, contract or swap, the venue's id; of
   * money, the currency.
   */
  readonly name: string
  /**
   * The figure of a position is its signed quantity; of an order, its remaining quantity; of a trade, its description; of a
   * contract or swap, its open quantity; of a request, OPEN; of money, the signed amount.
   */
  readonly figure: string
}

export interface HoldingDifference {
  readonly account: string
  readonly kind: HoldingKind
  readonly name: string
  /** The figures of both sides; null on a side without this holding. */
  readonly service: string | null
  readonly venue: string | null
}

/** The open holdings at the venue. Flat positions, and contracts and swaps that have ended, are no holdings. */
export const venueHoldings = ({ positions, orders, contracts, swaps }: VenueAccount): ReadonlyArray<Holding> => [
  ...positions
    .filter(({ netQty }) => /[1-9]/.test(netQty))
    .map(({ symbol, netQty }): Holding => ({ kind: "position", name: symbol, figure: netQty })),
  ...orders.filter(isLive).map(({ ref, id, qty, filledQty }): Holding => ({
    kind: "order",
    name: ref ?? `of the venue, ${id}`,
    figure: decimalText(new MoneyDecimal(qty).minus(filledQty))
  })),
  ...contracts
    .filter(({ state }) => state === "OPEN")
    .map(({ id, qty }): Holding => ({ kind: "contract", name: String(id), figure: qty })),
  ...swaps
    .filter(({ end }) => end === null)
    .map(({ id, notional }): Holding => ({ kind: "swap", name: String(id), figure: notional }))
]

/** True if the order may still be filled at the venue. */
export const isLive = ({ state }: Pick<VenueOrder, "state">): boolean => state === "WAITING" || state === "WORKING"

/** A trade as a holding. Its figure is a text, and both sides write the same text for the same trade. */
export const tradeHolding = (trade: Trade): Holding => ({
  kind: "trade",
  name: String(trade.tradeId),
  figure: tradeFigure(trade)
})

/** The sums of money by asset as holdings; the amounts are signed decimal texts. */
export const moneyHoldings = (figures: MoneyFigures): ReadonlyArray<Holding> =>
  [...figures].map(([asset, amount]): Holding => ({ kind: "money", name: asset, figure: decimalText(amount) }))

/** All differences of one account, sorted by kind and then by name. */
export const compareHoldings = (
  account: string,
  service: ReadonlyArray<Holding>,
  venue: ReadonlyArray<Holding>
): ReadonlyArray<HoldingDifference> => {
  const figures = (side: ReadonlyArray<Holding>) => new Map(side.map((each) => [keyOf(each), each.figure]))
  const [ours, theirs] = [figures(service), figures(venue)]
  const all = new Map([...service, ...venue].map((each) => [keyOf(each), each]))
  return [...all]
    .filter(([key]) => !sameFigure(ours.get(key), theirs.get(key)))
    .map(([key, { kind, name }]) => ({
      account,
      kind,
      name,
      service: ours.get(key) ?? null,
      venue: theirs.get(key) ?? null
    }))
    .toSorted((a, b) => holdingKinds.indexOf(a.kind) - holdingKinds.indexOf(b.kind) || (a.name < b.name ? -1 : 1))
}

/** The difference as a sentence, such as `contract 12 of CL-0001: the service has none, the venue 0.5`. */
export const differenceSentence = ({ account, kind, name, service, venue }: HoldingDifference): string =>
  `${kind} ${name} of ${account}: the service has ${service ?? "none"}, the venue ${venue ?? "none"}`

const keyOf = ({ kind, name }: Holding): string => `${kind} ${name}`

/** Compares figures as numbers, because one side may write 1.5 and the other 1.50. */
const sameFigure = (a: string | undefined, b: string | undefined): boolean =>
  a !== undefined && b !== undefined && plain(a) === plain(b)

const plain = (figure: string): string => (figure.includes(".") ? figure.replace(/\.?0+$/, "") : figure)
