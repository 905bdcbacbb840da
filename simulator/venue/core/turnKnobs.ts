/** Changes knobs of a running venue: absent ones stay. If one is invalid, none is changed. */
import type { LadderShape } from "./Makers.ts"
import { unitsOf } from "./Market.ts"
import type { VenueKnobs } from "./VenueKnobs.ts"
import type { VenueParts } from "./VenueParts.ts"

/** Sets the given knobs. Returns the reason that they are refused; null when they are set. */
export const turnKnobs = (parts: VenueParts, knobs: VenueKnobs): string | null => {
  const { prices, makers, settings } = parts
  const unknown = Object.keys(knobs.processes ?? {}).find((base) => !parts.listingsOf.has(base))
  if (unknown !== undefined) return `processes: no base ${unknown}.`
  const shapes: Array<readonly [symbol: string, shape: LadderShape]> = []
  for (const [symbol, { size, ...rest }] of Object.entries(knobs.books ?? {})) {
    const listing = parts.exchange.listings.get(symbol)
    const shape = makers.shapeOf(symbol)
    if (listing === undefined || shape === null) return `books: ${symbol} has no book.`
    const lots = size === undefined ? shape.size : unitsOf(size, listing.market.lotDecimals)
    if (lots === null || lots > listing.market.maxQty) return `books: ${size} is off the grid of ${symbol}.`
    shapes.push([symbol, { ...shape, ...rest, size: lots }])
  }
  const odd = Object.keys(knobs.orders ?? {}).find((symbol) => makers.shapeOf(symbol) === null)
  if (odd !== undefined) return `orders: ${odd} has no orders.`
  const names = (knobs.dealers ?? []).map(({ name }) => name)
  const twice = names.find((name, n) => names.indexOf(name) !== n)
  if (twice !== undefined) return `dealers: ${twice} is there twice.`
  if (knobs.seed !== undefined) parts.reseed(knobs.seed)
  for (const [base, walk] of Object.entries(knobs.processes ?? {}))
    prices.setWalk(base, { ...prices.walkOf(base), ...walk })
  for (const [symbol, shape] of shapes) makers.change(symbol, shape)
  parts.turnOrders(knobs.orders ?? {})
  prices.basisHalfLifeMillis = knobs.basisHalfLifeMillis ?? prices.basisHalfLifeMillis
  settings.tickMillis = knobs.tickMillis ?? settings.tickMillis
  settings.takers = knobs.takers ?? settings.takers
  settings.dealers = knobs.dealers ?? settings.dealers
  settings.writers = { ...settings.writers, ...knobs.writers }
  return null
}
