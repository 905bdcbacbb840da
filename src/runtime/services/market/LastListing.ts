/**
 * The last listing that the service accepted. All readers of the venue's listing share it, so all of them use the same
 * last possible state for an impossible part. It survives a restart in one row, which is written if the listing has
 * changed, at most every five seconds and at shutdown. A crash loses at most five seconds of changes (A2-114).
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { type BelievedListing, believedListing, type ReadListing } from "../../../machines/market/believedListing.ts"
import { VenueListing } from "../../../machines/venue/VenueMarket.ts"
import { ActorHost } from "../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../ports/RowReads.ts"
import { keepStored } from "./keepStored.ts"

/** The largest listing that is stored for a restart, in UTF-16 units of its text. */
const mostText = 1 << 20
const keepEvery = "5 seconds"

export interface LastListingShape {
  /** The listing that the previous process stored; null if it stored none. */
  readonly recalled: VenueListing | null
  /** The last accepted listing; null: the venue has sent no possible listing yet. */
  readonly last: () => VenueListing | null
  /** Accepts the possible parts of a listing that was read. The result becomes the last listing. */
  readonly believe: (read: ReadListing) => BelievedListing
  /** The venue's time at the last read of the listing, Unix ms; -Infinity before the first. */
  readonly readAt: () => number
  /**
   * Records that a listing still held at this venue time, Unix ms. `text`: its `textOf`. A different listing, which another
   * reader has read since, is not confirmed.
   */
  readonly confirm: (text: string, at: number) => void
  /**
   * Whether a market was listed at a venue time, as `RecentMarket.isListed`. False too if the last listing lacks the
   * market; null: unknown.
   */
  readonly isListed: (symbol: string, at: number) => boolean | null
}

export const makeLastListing = (recalled: VenueListing | null = null): LastListingShape => {
  let last = recalled
  /** The last venue time at which the whole listing was known to hold, Unix ms; -Infinity before the first. */
  let heldAt = -Infinity
  let readAt = -Infinity
  let text = ""
  /** If a part of the last listing was impossible, its market may have been delisted, so the listing is not confirmed. */
  let isWhole = false
  return {
    recalled,
    last: () => last,
    readAt: () => readAt,
    believe: (read) => {
      const believed = believedListing(last, read)
      const { markets, stakingMarkets } = believed.listing
      if (markets.length + stakingMarkets.length > 0) last = believed.listing
      isWhole = believed.kept === 0
      readAt = read.at
      text = textOf(read)
      if (isWhole) heldAt = read.at
      return believed
    },
    confirm: (of, at) => {
      if (isWhole && of === text) heldAt = Math.max(heldAt, at)
    },
    isListed: (symbol, at) => {
      if (last === null) return null
      const isOf = (each: { readonly symbol: string; readonly delisted: boolean }): boolean =>
        each.symbol === symbol && !each.delisted
      const isListed = last.markets.some(isOf) || last.stakingMarkets.some(isOf)
      return isListed && heldAt <= at ? null : isListed
    }
  }
}

const decode = Schema.decodeUnknownOption(VenueListing)

export class LastListing extends Context.Service<LastListing, LastListingShape>()(
  "brokerage/runtime/services/market/LastListing"
) {
  /** Loads the listing of the previous process. A row that this release can't read counts as none. */
  static readonly layer: Layer.Layer<LastListing, never, RowReads> = Layer.effect(
    LastListing,
    Effect.gen(function* () {
      const [row] = yield* Effect.orDie((yield* RowReads).all("lastListings"))
      const read = Option.getOrNull(decode(row?.listing))
      if (row !== undefined && read === null)
        yield* Effect.logWarning("the stored listing can't be read: no market is shown until the venue answers")
      // An earlier release may have accepted parts that this release rejects, so they are checked again.
      return LastListing.of(makeLastListing(read === null ? null : believedListing(null, read).listing))
    })
  )

  /** The layer that stores the listing for the next process, at intervals and at the end. */
  static readonly layerKept: Layer.Layer<never, never, LastListing | ActorHost> = Layer.effectDiscard(
    Effect.gen(function* () {
      const { last, recalled } = yield* LastListing
      const host = yield* ActorHost
      let kept = textOf(recalled)
      yield* keepStored("the last listing", keepEvery, () => {
        const listing = last()
        const text = textOf(listing)
        if (listing === null || text === kept) return Effect.void
        if (text.length > mostText) {
          kept = text
          return Effect.logWarning(
            "the venue's listing is too large to be stored: after a restart no market is shown until the venue answers"
          )
        }
        return Effect.map(host.record({ lastListings: [{ id: 1, listing }] }, "internal"), () => void (kept = text))
      })
    })
  )
}

/** The contents of a listing as text, without the version and the time of the venue's response. */
export const textOf = (listing: ReadListing | null): string =>
  JSON.stringify([listing?.markets ?? [], listing?.stakingMarkets ?? [], listing?.unreadable ?? []])
