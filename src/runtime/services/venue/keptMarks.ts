/**
 * The marks that an open misfit stores in its row. The recent marks are lost in a restart, and marks by the second
 * expire. A report that was outside the band would then fit (A2-115).
 */
import type { PriceBand } from "../../../machines/market/PriceBand.ts"
import { exactText, scaled } from "../../../machines/shared/Exact.ts"
import { type KeptBand, type KeptMarket, mostBands } from "../../../machines/venueChecks/VenueMisfit.ts"
import { objectOfRef } from "../../../machines/venue/venueRefs.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { rowsInTurn } from "../../engine/mailbox/turnRows.ts"
import type { VenueMisfitRow } from "../../tables/venue.ts"

/**
 * The age up to which the service knows the marks of every second, ms. Known marks of this age take precedence over
 * stored ones.
 */
const bySecondMillis = 60_000

export const nothingKept: KeptMarket = { bands: [] }

/**
 * Whether a misfit concerns one of these objects. The misfit of a request to close a contract concerns both the request
 * and the contract.
 */
export const isOfObjects = ({ ref, contractId }: VenueMisfitRow, objects: ReadonlyArray<string>): boolean =>
  objects.includes(objectOfRef(ref)) || objects.includes(`barrierContract:${contractId}`)

/** The market data that the open misfits of these objects store. */
export const marketOf = (turn: Pick<Turn, "state" | "draft">, objects: ReadonlyArray<string>): KeptMarket => {
  if (objects.length === 0) return nothingKept
  return rowsInTurn(turn, "venueMisfits")
    .filter((row) => row.state !== "ENDED" && isOfObjects(row, objects))
    .reduce((all, { market }) => withMarket(all, market), nothingKept)
}

/**
 * Merges market data, with at most `mostBands` bands; further bands are dropped. For the same time a new band replaces
 * the earlier one.
 */
export const withMarket = (before: KeptMarket, { bands, listedAt }: KeptMarket): KeptMarket => {
  const all = new Map([...before.bands, ...bands].map((band) => [nameOf(band), band]))
  return withListing({ ...before, bands: [...all.values()].slice(0, mostBands) }, listedAt)
}

/** The market data with the later of the two listing times. */
const withListing = (market: KeptMarket, at: number | undefined): KeptMarket =>
  at === undefined || at <= (market.listedAt ?? -Infinity) ? market : { ...market, listedAt: at }

const nameOf = ({ at, bps }: Pick<KeptBand, "at" | "bps">): string => `${at}:${bps}`

/** The marks by which one report is checked: known marks, and marks that the misfit of its object stores. */
export class KeptMarks {
  private lacks = false
  private readonly before: KeptMarket
  private readonly now: number
  /** The market data that the misfit has to store after the check. */
  market: KeptMarket

  constructor(before: KeptMarket, now: number) {
    this.before = before
    this.now = now
    this.market = before
  }

  bandAt(at: number, bps: number | null, recent: () => PriceBand | null): PriceBand | null {
    const kept = this.before.bands.find((band) => nameOf(band) === nameOf({ at, bps }))
    if (kept !== undefined && this.now >= at + bySecondMillis) return wholeBand(kept)
    const known = recent()
    if (known?.isWhole === true) {
      const band = { at, bps, low: exactText(known.low), high: exactText(known.high) }
      this.market = withMarket(this.market, { bands: [band] })
      return known
    }
    if (kept !== undefined) return wholeBand(kept)
    if (known === null && this.before.bands.length >= mostBands) this.lacks = true
    return known
  }

  /**
   * Whether the market was listed after a time. `known` takes precedence; if it is null, a stored listing time after
   * `at` counts.
   */
  isListed(at: number, known: boolean | null): boolean | null {
    if (known === null && at <= (this.before.listedAt ?? -Infinity)) return true
    if (known === true) this.market = withListing(this.market, at)
    return known
  }

  /**
   * The reason to refuse the report, or null. A report does not fit if the marks of its time are unknown and the misfit
   * already stores `mostBands` bands. This limit stops a venue that repeats a report at other times until one fits.
   */
  tooManyTimes(): string | null {
    return this.lacks ? `it was reported at more than ${mostBands} times, and the marks of the last are unknown` : null
  }
}

const wholeBand = ({ low, high }: KeptBand): PriceBand => ({ low: scaled(low), high: scaled(high), isWhole: true })
