/**
 * The log of a venue: inputs are on the disk before the venue plays them and before anybody hears what came of them, so that
 * the venue in memory is always the one that its log replays to. Inputs that come together are one record and one write: a
 * crash leaves all of them or none, and no whole record ever follows a torn one. The log of a directory is a snapshot (none
 * at first) and one segment of inputs that came after it; a segment that has grown long is replaced by a new snapshot and an
 * empty segment.
 */
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { completeOptions } from "../core/completeOptions.ts"
import { InputFailed, Venue } from "../core/Venue.ts"
import type { Applied, VenueInput, VenueListeners, VenueOptions } from "../core/VenueInput.ts"
import {
  format,
  type Group,
  type Header,
  type History,
  numbersOf,
  readHistory,
  segmentName,
  snapshotName,
  VenueLogError
} from "./history.ts"
import { type LogDisk, type LogFile, realDisk } from "./LogDisk.ts"
import { lineOf } from "./records.ts"
import { failureOf, insteadOf, replay } from "./replay.ts"
import { snapshotLines } from "./snapshots.ts"

export { VenueLogError } from "./history.ts"

export interface VenueLogOptions {
  /** There already; of this venue alone. */
  readonly directory: string
  /** Those of the venue's first start; of a venue that is there already all but `startAt` must be the same. */
  readonly venue: VenueOptions
  /** The directory has had a log: one that is lost is an error, not a beginning. */
  readonly isBegun?: boolean
  /** A segment longer than this is replaced by a snapshot. */
  readonly segmentBytes?: number
  readonly disk?: LogDisk
  /** Wall time, Unix ms. */
  readonly wall?: () => number
  /** Is given, in a sentence, what was passed over or refused though it should never be. */
  readonly print?: (line: string) => void
}

/** A torn end that was cut off when the log was opened. */
export interface CutTail {
  readonly file: string
  readonly bytes: number
}

interface Segment {
  readonly number: number
  readonly file: LogFile
  length: number
}

const usualSegmentBytes = 16 * 1024 * 1024

/** Its events and messages are heard while it is live: not what a replay says again. */
interface Gate {
  readonly listeners: VenueListeners
  live: boolean
}

export class VenueLog {
  /** The venue as its log has it. */
  readonly venue: Venue
  /** Set when the log ended in a torn record, as a crash leaves it. */
  readonly cut: CutTail | null
  /** Wall time of the last record, Unix ms; null: there is none yet. */
  writtenAt: number | null
  private readonly options: VenueLogOptions
  private readonly disk: LogDisk
  private readonly wall: () => number
  private readonly segmentBytes: number
  private readonly print: (line: string) => void
  private readonly gate: Gate
  private rotateAt: number
  private segment: Segment
  /** Of the newest snapshot: nothing before it is needed as long as it can be read. */
  private base: number
  /** What is past the whole records must be cut before the next write. */
  private dirty = false
  /** Why nothing can be appended any more. */
  private ended: string | null = null

  private constructor(options: VenueLogOptions, opened: Opened) {
    this.options = options
    this.disk = options.disk ?? realDisk
    this.wall = options.wall ?? Date.now
    this.print = options.print ?? silent
    this.segmentBytes = options.segmentBytes ?? usualSegmentBytes
    this.rotateAt = this.segmentBytes
    this.venue = opened.venue
    this.gate = opened.gate
    this.segment = opened.segment
    this.base = opened.base
    this.cut = opened.cut
    this.writtenAt = opened.writtenAt
  }

  /** Opens the log of a directory and replays it; a directory without one begins a new venue. Throws VenueLogError. */
  static async open(options: VenueLogOptions, listeners: VenueListeners): Promise<VenueLog> {
    const { directory, disk = realDisk, print = silent } = options
    const history = readHistory(disk, directory, await disk.list(directory))
    const { base, snapshot, segments, broken, left } = history
    const last = segments.at(-1)
    const header = segments[0]?.header ?? null
    if (header === null && options.isBegun === true)
      throw new VenueLogError(
        `${join(directory, segmentName(0))} is missing or has nothing whole in it: the log can't be replayed.`
      )
    const asked = completeOptions(options.venue)
    const began = completeOptions(snapshot?.state.options ?? header?.options ?? asked)
    refuseOthers(directory, began, asked)
    const gate: Gate = { listeners, live: false }
    const { venue, failures } = replay(maker(history, began, gate), inputsOf(history))
    for (const path of broken) print(`${path} is broken: the snapshot before it and the inputs since then were used.`)
    for (const failure of failures) print(failure)
    const torn = last === undefined ? 0 : last.bytes - last.wholeBytes
    const segment =
      last === undefined || header === null
        ? await beginSegment(disk, directory, 0, began)
        : { number: last.number, file: await disk.open(last.path), length: last.wholeBytes }
    if (torn > 0) await segment.file.cut(segment.length)
    for (const path of [...broken, ...left]) await disk.remove(path)
    gate.live = true
    const writtenAt = segments.flatMap(({ groups }) => groups).at(-1)?.at ?? snapshot?.at ?? null
    const cut = torn > 0 && last !== undefined ? { file: last.path, bytes: torn } : null
    return new VenueLog(options, { venue, gate, segment, base, writtenAt, cut })
  }

  /**
   * Writes inputs, in order, as one record; they are on the disk when it completes, and are played then (`play`) before any
   * others are appended. One call at a time. After a failure, VenueLogError, nothing of them is there, unless it says that it
   * is not sure; the next call tries the disk again.
   */
  async append(inputs: ReadonlyArray<VenueInput>): Promise<void> {
    if (this.segment.length > this.rotateAt) await this.rotate()
    if (this.ended !== null) throw new VenueLogError(this.ended)
    const at = this.wall()
    const group: Group = { at, inputs }
    try {
      await this.write(Buffer.from(lineOf(group)))
    } catch (error) {
      throw await this.refusal(error)
    }
    this.writtenAt = at
  }

  /**
   * Plays the inputs that were appended last. One that the venue can't play is refused, here as at every replay, and the books
   * are those without it; a snapshot then comes first, so that no start meets it again.
   */
  play(inputs: ReadonlyArray<VenueInput>): ReadonlyArray<Applied> {
    return inputs.map((input, n) => this.playOne(input, inputs.length - n))
  }

  private playOne(input: VenueInput, left: number): Applied {
    try {
      return this.venue.apply(input)
    } catch (error) {
      if (!(error instanceof InputFailed)) throw error
      const refusal = failureOf(input, error)
      this.print(refusal)
      this.undo(left)
      this.rotateAt = 0
      const instead = insteadOf(input)
      return instead === null ? { outcomes: [], id: null, refusal } : this.playOne(instead, left)
    }
  }

  /** Makes the books again as they were before the last inputs of the log. */
  private undo(count: number): void {
    const { options, disk, gate, venue } = this
    const numbers = Array.from({ length: this.segment.number - this.base + 1 }, (_, n) => this.base + n)
    const snapshot = this.base === 0 ? [] : [snapshotName(this.base)]
    const history = readHistory(disk, options.directory, [...snapshot, ...numbers.map(segmentName)])
    const inputs = inputsOf(history)
    gate.live = false
    try {
      venue.become(replay(maker(history, venue.options, gate), inputs.slice(0, inputs.length - count)).venue)
    } finally {
      gate.live = true
    }
  }

  /** Replaces the segment by a snapshot of the venue, so that the next start has nothing to replay. */
  async snapshot(): Promise<void> {
    if (this.ended === null) await this.rotate()
  }

  /** Lets the files go, and takes nothing more. */
  async close(): Promise<void> {
    this.ended ??= "The venue has ended."
    await this.segment.file.close()
  }

  private async write(bytes: Buffer): Promise<void> {
    const { segment } = this
    if (this.dirty) await segment.file.cut(segment.length)
    this.dirty = true
    await segment.file.write(segment.length, bytes)
    this.dirty = false
    segment.length += bytes.length
  }

  /** Takes what may be there of a failed write off the disk again, so that no restart finds it. */
  private async refusal(cause: unknown): Promise<VenueLogError> {
    const sentence = `The venue's log can't be written: ${reasonOf(cause)}.`
    try {
      await this.segment.file.cut(this.segment.length)
      this.dirty = false
      return new VenueLogError(sentence)
    } catch (error) {
      return new VenueLogError(`${sentence} Nor can it be cut: ${reasonOf(error)}.`, false)
    }
  }

  /** The snapshot's appearance is the moment at which the new segment counts; until then the old one does. */
  private async rotate(): Promise<void> {
    const { disk, venue, segment } = this
    const { directory } = this.options
    const number = segment.number + 1
    const path = join(directory, snapshotName(number))
    let next: Segment | null = null
    try {
      // Should the snapshot break, the segments are played one after the other: each must be whole.
      if (this.dirty) await segment.file.cut(segment.length)
      this.dirty = false
      next = await beginSegment(disk, directory, number, venue.options)
      await disk.replace(path, snapshotLines({ at: this.writtenAt, state: venue.state() }))
    } catch (error) {
      await next?.file.close()
      return this.stay(path, error)
    }
    this.segment = next
    this.rotateAt = this.segmentBytes
    const before = this.base
    this.base = number
    try {
      await segment.file.close()
      await removeBefore(disk, directory, before)
    } catch (error) {
      // What is left of the past harms nothing, and the next snapshot tries again.
      this.print(`What is older than the snapshot before this one can't be removed: ${reasonOf(error)}.`)
    }
  }

  /** A snapshot could not be written: the segment goes on, and the next try is as far away as this one was. */
  private async stay(snapshot: string, cause: unknown): Promise<void> {
    this.rotateAt = this.segment.length + this.segmentBytes
    try {
      await this.disk.remove(snapshot)
    } catch (error) {
      // It may be there: then what is appended to the old segment would not be found any more.
      this.ended = `The venue's snapshot can be neither written (${reasonOf(cause)}) nor removed (${reasonOf(error)}).`
    }
  }
}

const silent = (): void => undefined

interface Opened {
  readonly venue: Venue
  readonly gate: Gate
  readonly segment: Segment
  readonly base: number
  readonly writtenAt: number | null
  readonly cut: CutTail | null
}

const inputsOf = ({ segments }: History): ReadonlyArray<VenueInput> =>
  segments.flatMap(({ groups }) => groups.flatMap(({ inputs }) => inputs))

/** Makes the venue that the inputs of a history are played on. */
const maker = ({ snapshot, base }: History, options: VenueOptions, gate: Gate) => {
  const listeners: VenueListeners = {
    event: (event) => gate.live && gate.listeners.event(event),
    market: (message) => gate.live && gate.listeners.market(message)
  }
  return (): Venue => {
    if (snapshot === null) return new Venue(options, listeners)
    try {
      return Venue.restore({ ...snapshot.state, options }, listeners)
    } catch (error) {
      throw new VenueLogError(`${snapshotName(base)}: the books in it can't be used: ${reasonOf(error)}.`)
    }
  }
}

const beginSegment = async (
  disk: LogDisk,
  directory: string,
  number: number,
  options: VenueOptions
): Promise<Segment> => {
  const file = await disk.open(join(directory, segmentName(number)))
  const header: Header = { format, options }
  const bytes = Buffer.from(lineOf(header))
  try {
    await file.cut(0)
    await file.write(0, bytes)
  } catch (error) {
    await file.close()
    throw error
  }
  return { number, file, length: bytes.length }
}

/** What is older than the last snapshot but one. */
const removeBefore = async (disk: LogDisk, directory: string, number: number): Promise<void> => {
  const names = await disk.list(directory)
  for (const [pattern, nameOf] of [
    [/^inputs-(\d+)\.log$/, segmentName] as const,
    [/^snapshot-(\d+)\.json$/, snapshotName] as const
  ]) {
    for (const old of numbersOf(names, pattern)) if (old < number) await disk.remove(join(directory, nameOf(old)))
  }
}

/** A venue goes on with the options that it began with; the time at which it did is its own. */
const refuseOthers = (directory: string, began: VenueOptions, asked: VenueOptions): void => {
  const differs = (["seed", "tickMillis", "markets", "knobs"] as const).filter(
    (name) => !isDeepStrictEqual(began[name], asked[name])
  )
  if (differs.length === 0) return
  const names = differs.map((name) => (name === "tickMillis" ? "tick" : name)).join(", ")
  throw new VenueLogError(
    `The venue in ${directory} was begun with other options (${names}): give it those, or another directory.`
  )
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
