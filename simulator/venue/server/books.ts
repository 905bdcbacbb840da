/** The books of a directory: the venue as its log has it, and the log to go on with. */
import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import type { Venue } from "../core/Venue.ts"
import type { VenueListeners, VenueOptions } from "../core/VenueInput.ts"
import type { LogDisk } from "../log/LogDisk.ts"
import { VenueLog } from "../log/VenueLog.ts"
import { writeWhole } from "./writeWhole.ts"

export interface BooksOptions {
  readonly directory: string
  /** Of new books; null: the usual ones. Books that are there keep theirs. */
  readonly seed: number | null
  readonly markets: VenueOptions["markets"] | null
  readonly print: (line: string) => void
  /** Another disk than the real one. */
  readonly disk?: LogDisk
}

export interface Books {
  readonly venue: Venue
  readonly log: VenueLog
  /** What business time was ahead of wall time when the log was last written, ms. */
  readonly offset: number
  /** Wall ms that the replay took. */
  readonly replayMillis: number
}

const usualSeed = 1
/** Between two ticks, ms. */
const usualTick = 250

/** Opens the log of a directory and replays it, or begins a new one. Throws a sentence when it can't. */
export const openBooks = async (options: BooksOptions, listeners: VenueListeners): Promise<Books> => {
  const { directory, print, disk } = options
  const begun = optionsOf(options)
  const logs = join(directory, "log")
  mkdirSync(logs, { recursive: true, mode: 0o700 })
  const before = performance.now()
  const log = await VenueLog.open({ directory: logs, venue: begun, ...(disk === undefined ? {} : { disk }) }, listeners)
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

/** The options that the books of a directory began with; they are kept beside the log, which takes no others. */
const optionsOf = ({ directory, seed, markets }: BooksOptions): VenueOptions => {
  const file = join(directory, "begun.json")
  if (!existsSync(file)) {
    const begun: VenueOptions = {
      seed: seed ?? usualSeed,
      startAt: Date.now(),
      tickMillis: usualTick,
      knobs: {},
      ...(markets === null || markets === undefined ? {} : { markets })
    }
    writeWhole(file, JSON.stringify(begun))
    return begun
  }
  const begun = JSON.parse(readFileSync(file, "utf8")) as VenueOptions
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
