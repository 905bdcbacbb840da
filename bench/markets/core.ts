/** Orders that the simulated venue's exchange takes a second, on one thread, beside a plain array book and nodejs-order-book. */
import { isDeepStrictEqual } from "node:util"
import { type Spread, spreadOf } from "../rounds.ts"
import { type ComparedBook, peerBook, plainArrays, simulatedVenue } from "./orderBooks.ts"
import { orderStream } from "./orderStream.ts"

export interface CorePlan {
  /** Orders of one slice. */
  readonly orders: number
  readonly rounds: number
  readonly progress: (line: string) => void
}

export interface CoreFindings {
  readonly orders: number
  /** Orders a second. */
  readonly venue: Spread
  readonly plain: Spread
  readonly peer: Spread
}

const sides = { venue: simulatedVenue, plain: plainArrays, peer: peerBook } as const
type SideName = keyof typeof sides
const names = Object.keys(sides) as ReadonlyArray<SideName>

/** The books take turns over the same orders; a round counts only when all of them end with the same rest. */
export const measureCore = ({ orders, rounds, progress }: CorePlan): CoreFindings => {
  const rates: Record<SideName, Array<number>> = { venue: [], plain: [], peer: [] }
  // The first round only warms up.
  for (let round = 0; round <= rounds; round++) {
    const stream = orderStream(orders, round + 1)
    const rests = names.map((name) => {
      const book: ComparedBook = sides[name]()
      const began = performance.now()
      for (const order of stream) book.take(order)
      const rate = (orders * 1_000) / (performance.now() - began)
      if (round > 0) rates[name].push(rate)
      return book.rest()
    })
    if (!rests.every((rest) => isDeepStrictEqual(rest, rests[0]))) throw new Error("the books do not agree")
  }
  const findings = { orders, venue: spreadOf(rates.venue), plain: spreadOf(rates.plain), peer: spreadOf(rates.peer) }
  progress(`simulator core: ${findings.venue.median.toFixed(0)} orders a second`)
  return findings
}
