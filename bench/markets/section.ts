/** The markets part of the report. */
import { spread, table, whole } from "../markdown.ts"
import type { CoreFindings } from "./core.ts"

/** One field for each group of rows. */
export interface MarketFindings {
  readonly core: CoreFindings
}

const coreTable = ({ venue, plain, peer, orders }: CoreFindings): string => {
  const ratio = (other: CoreFindings["peer"]): string => `${(venue.median / other.median).toFixed(1)} x`
  const rows = table(
    ["orders a second, one thread", "", "simulator is"],
    [
      ["simulator core", spread(venue, whole), ""],
      ["plain sorted arrays", spread(plain, whole), ratio(plain)],
      ["nodejs-order-book", spread(peer, whole), ratio(peer)]
    ]
  )
  return `${rows}\n\n${whole(orders)} limit orders and cancels a round; every book ended each round with the same levels. The simulator also checks grids and bands, nets accounts and says every event; the others do none of it.`
}

export const marketsSection = ({ core }: MarketFindings): string => coreTable(core)
