/**
 * Stores the last marks of the SPOT markets that value holdings and deposits. So a service that starts while the venue
 * is unavailable values them by stale marks instead of none. One commit stores all of them: at most once a minute, and
 * only if a mark is new, has moved by a quarter of a percent, or was stored ten minutes ago. They are stored at
 * shutdown too. A crash loses at most the changes since the last such commit (F23, F25).
 */
import { Effect, Layer } from "effect"
import type { Mark } from "../../../machines/market/Facts.ts"
import { spotOf } from "../../../machines/market/holdingMark.ts"
import { decimalText, MoneyDecimal } from "../../../machines/shared/Money.ts"
import { currencyCodes } from "../../../machines/shared/Currency.ts"
import { ActorHost } from "../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../ports/RowReads.ts"
import type { LastMarkRow } from "../../tables/market.ts"
import { keepStored } from "./keepStored.ts"
import { MarketFeed } from "./MarketFeed.ts"

const keepEvery = "1 minute"
/** A mark that has moved by more than this share of its stored price is stored at the next interval. */
const moved = 0.0025
/** A mark that has moved less is stored again after this time, in ms of the venue's time. */
const keptLongest = 600_000

const spots = currencyCodes.map(spotOf)

/** Restores the stored marks before any decision uses them. */
export const layerLastMarks: Layer.Layer<never, never, MarketFeed | ActorHost | RowReads> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { mirror } = yield* MarketFeed
    const host = yield* ActorHost
    const rows = yield* Effect.orDie((yield* RowReads).all("lastMarks"))
    mirror.recall(new Map(rows.map((row) => [row.symbol, markOf(row)])))
    const kept = new Map(rows.map((row) => [row.symbol, row]))

    yield* keepStored("the last marks", keepEvery, (isEnd) => {
      const isDue = isEnd ? isAnother : isWorthIt
      const { marks } = host.facts()
      const now = spots.flatMap((symbol) => {
        const mark = marks.get(symbol)
        // The time of a stored mark must never decrease.
        return mark === undefined || mark.at < (kept.get(symbol)?.at ?? 0) ? [] : [rowOf(symbol, mark)]
      })
      const due = now.some((row) => {
        const before = kept.get(row.symbol)
        return before === undefined || isDue(row, before)
      })
      if (!due) return Effect.void
      return Effect.map(host.record({ lastMarks: now }, "internal"), () =>
        now.forEach((row) => kept.set(row.symbol, row))
      )
    })
  })
)

const isWorthIt = (now: LastMarkRow, before: LastMarkRow): boolean =>
  (now.at - before.at >= keptLongest && isAnother(now, before)) ||
  new MoneyDecimal(now.price).div(before.price).minus(1).abs().gte(moved)

const isAnother = (now: LastMarkRow, before: LastMarkRow): boolean => now.at !== before.at

/** The row of a mark. The price is written with all decimal places of its grid, so that their number is restored with it. */
const rowOf = (symbol: string, { price, places, at }: Mark): LastMarkRow => ({
  symbol,
  price: decimalText(price, places),
  at
})

const markOf = ({ price, at }: LastMarkRow): Mark => ({
  price: new MoneyDecimal(price),
  places: price.split(".")[1]?.length ?? 0,
  at,
  current: false
})
