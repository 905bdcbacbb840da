/**
 * The orders part on a data directory of its own, in this order: orders and cancels, trades, margin reads and previews.
 */
import { type FigureFindings, measureFigures } from "./figureRounds.ts"
import { type FillFindings, measureFills } from "./fillRounds.ts"
import { makeWorld, type OrderPlan } from "./OrderWorld.ts"
import { Placing, type PlacingFindings } from "./placingRounds.ts"

export interface OrderFindings {
  readonly placing: PlacingFindings
  readonly fills: ReadonlyArray<FillFindings>
  readonly figures: FigureFindings
}

export const measureOrders = async (plan: OrderPlan): Promise<OrderFindings> => {
  const world = await makeWorld(plan)
  try {
    const placing = await new Placing(world).run()
    const fills = await measureFills(world)
    return { placing, fills, figures: await measureFigures(world) }
  } finally {
    await world.load.stop()
    await world.service.stop()
  }
}
