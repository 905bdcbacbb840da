/** The goals of orders against the references of the same run. */
import type { Goal } from "../goals.ts"
import type { FillFindings } from "./fillRounds.ts"
import type { OrderFindings } from "./orderRounds.ts"
import type { PlacingRows } from "./placingRounds.ts"

const times = { typical: 5, tuned: 2.5, plainSql: 5 } as const

const ratio = (own: number, other: number): number => own / Math.max(1e-9, other)

const atLeast = (what: string, wanted: number, own: number, other: number): Goal => ({
  sentence: `${what}: at least ${wanted} times`,
  figure: `${ratio(own, other).toFixed(2)} times`,
  reached: own >= wanted * other
})

const lower = (sentence: string, own: number, other: number, unit: string): Goal => ({
  sentence,
  figure: `${own.toFixed(1)} against ${other.toFixed(1)} ${unit}`,
  reached: own < other
})

const placingGoals = (what: string, { service, typical, tuned }: PlacingRows): ReadonlyArray<Goal> =>
  ([typical, tuned] as const).flatMap((other) => {
    const wanted = other === typical ? times.typical : times.tuned
    return [
      atLeast(`${what}, ${other.system}`, wanted, service.rate.median, other.rate.median),
      lower(`${what}, ${other.system}: a lower p99`, service.p99.median, other.p99.median, "ms")
    ]
  })

const writtenGoals = ({ service, tuned }: PlacingRows): ReadonlyArray<Goal> => [
  lower("table written per order: less than tuned", service.tableBytes.median, tuned.tableBytes.median, "bytes"),
  lower("log written per order: less than tuned", service.logBytes.median, tuned.logBytes.median, "bytes")
]

const fillGoals = ({ custody, service, plain }: FillFindings): ReadonlyArray<Goal> => [
  atLeast(`trades booked, ${custody}, plain SQL at its best`, times.plainSql, service.rate.median, plain.rate.median),
  lower(`table written per trade, ${custody}`, service.tableBytes.median, plain.tableBytes.median, "bytes"),
  lower(`log written per trade, ${custody}`, service.logBytes.median, plain.logBytes.median, "bytes")
]

export const orderGoals = ({ placing, fills }: OrderFindings): ReadonlyArray<Goal> => [
  ...placingGoals("orders", placing.placed),
  ...placingGoals("cancels", placing.cancelled),
  ...writtenGoals(placing.placed),
  ...fills.flatMap(fillGoals)
]
