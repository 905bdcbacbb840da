/** The books of a directory: the venue from its log, and the log for further inputs. */
import { Result, Schema } from "effect"
import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { completeOptions } from "../core/completeOptions.ts"
import { MarketBase } from "../core/readKnobs.ts"
import type { Venue } from "../core/Venue.ts"
import type { VenueListeners, VenueOptions } from "../core/VenueInput.ts"
import { VenueKnobs } from "../core/VenueKnobs.ts"
import type { LogDisk } from "../log/LogDisk.ts"
import { VenueLog } from "../log/VenueLog.ts"
import { writeWhole } from "./writeWhole.ts"

export interface BooksOptions {
  readonly directory: string
  /** The seed of new books; null: the default. Existing books keep their seed. */
  readonly seed: number | null
  readonly markets: VenueOptions["markets"] | null
  readonly print: (line: string) => void
  /** Replaces the real disk. */
  readonly disk?: LogDisk
}

export interface Books {
  readonly venue: Venue
  readonly log: VenueLog
  /** Lead of business time over wall time at the last write of the log, ms. */
  readonly offset: number
  /** Duration of the replay, wall ms. */
  readonly replayMillis: number
}

const usualSeed = 1
/** Default interval of ticks, ms. */
const usualTick = 250

/** Opens the log of a directory and replays it, or begins a new one. Throws a sentence if it can't. */
export const openBooks = async (options: BooksOptions, listeners: VenueListeners): Promise<Books> => {
  const { directory, print, disk } = options
  const file = join(directory, "begun.json")
  const kept = readBegun(file)
  const begun = optionsOf(options, kept)
  const logs = join(directory, "log")
  mkdirSync(logs, { recursive: true, mode: 0o700 })
  const before = performance.now()
  const log = await VenueLog.open(
    { directory: logs, venue: begun, isBegun: kept !== null, print, ...(disk === undefined ? {} : { disk }) },
    listeners
  )
  // This file is written after the log. If it exists without a log, the log was lost.
  try {
    if (!isDeepStrictEqual(kept, begun)) writeWhole(file, JSON.stringify(begun))
  } catch (error) {
    await log.close()
    throw error
  }
  if (log.cut !== null) {
    print(
      `The log ended in a record that was not written whole: ${log.cut.bytes} bytes of ${log.cut.file} were cut off.`
    )
  }
  return {
    venue: log.venue,
    log,
    offset: log.writtenAt === null ? 0 : log.venue.now - log.writtenAt,
    replayMillis: performance.now() - before
  }
}

const Begun = Schema.Struct({
  seed: Schema.Int,
  startAt: Schema.Int,
  tickMillis: Schema.Int,
  markets: Schema.optionalKey(Schema.Array(MarketBase)),
  knobs: VenueKnobs,
  kept: Schema.optionalKey(
    Schema.Struct({
      refs: Schema.Int,
      orders: Schema.Int,
      requests: Schema.Int,
      contracts: Schema.Int,
      swaps: Schema.Int
    })
  )
})
const decodeBegun = Schema.decodeUnknownResult(Schema.fromJsonString(Begun))

/** The options with which a directory's books began, stored beside the log; null: no books. */
const readBegun = (file: string): VenueOptions | null => {
  if (!existsSync(file)) return null
  const begun = decodeBegun(readFileSync(file, "utf8"))
  if (Result.isSuccess(begun)) return begun.success
  throw new Error(`${file} is broken: bring it back, or name another directory. The books beside it began with it.`)
}

/** The complete options of the books: the stored ones, or those for new books. */
const optionsOf = ({ directory, seed, markets }: BooksOptions, kept: VenueOptions | null): VenueOptions => {
  if (kept === null) {
    return completeOptions({
      seed: seed ?? usualSeed,
      startAt: Date.now(),
      tickMillis: usualTick,
      knobs: {},
      ...(markets === null || markets === undefined ? {} : { markets })
    })
  }
  const begun = completeOptions(kept)
  if (seed !== null && seed !== begun.seed) {
    throw new Error(
      `The books in ${directory} began with seed ${begun.seed}: leave --seed out, or name another directory.`
    )
  }
  if (markets !== null && !isDeepStrictEqual(markets, begun.markets)) {
    throw new Error(
      `The books in ${directory} began with other markets: leave --markets out, or name another directory.`
    )
  }
  return begun
}
