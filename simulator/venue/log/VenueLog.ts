/**
 * The write-ahead log of a venue: inputs are on disk before the venue applies and publishes them, so that memory always equals
 * a replay of the log. Concurrent inputs are one record and one write: a crash leaves all or none, and a torn record is always
 * the last. A directory's log is a snapshot (none at first) and one segment of later inputs; a long segment is replaced by a
 * new snapshot and an empty segment.
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
  /** An existing directory of this venue alone. */
  readonly directory: string
  /** Options of the venue's first start; at a later start all but `startAt` must be equal. */
  readonly venue: VenueOptions
  /** True: the directory has had a log before, so a missing log is an error and not a new venue. */
  readonly isBegun?: boolean
  /** A longer segment is replaced by a snapshot. */
  readonly segmentBytes?: number
  readonly disk?: LogDisk
  /** Wall time, Unix ms. */
  readonly wall?: () => number
  /** Receives a sentence on skipped or refused data that should not exist. */
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

/** The listeners of a venue. They receive its events and messages while `live` is true, and none during a replay. */
interface Gate {
  readonly listeners: VenueListeners
  live: boolean
}

export class VenueLog {
  /** The venue that the log replays to. */
  readonly venue: Venue
  /** Set if the log ended in a torn record, as after a crash. */
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
  /** Number of the newest snapshot: older files are unnecessary as long as it is readable. */
  private base: number
  /** Bytes after the last whole record must be cut before the next write. */
  private dirty = false
  /** Why the log takes no more inputs; null while it takes them. */
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
    const configured = completeOptions(options.venue)
    const began = completeOptions(snapshot?.state.options ?? header?.options ?? configured)
    refuseOthers(directory, began, configured)
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
   * Writes inputs in order as one record. They are on disk on completion, and `play` must apply them before the next append.
   * One call at a time. A VenueLogError means that no input of the call is on disk, unless the error is uncertain; the next call retries the
   * disk.
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
   * Applies the inputs of the last append. An input that makes the venue fail is refused, here and at every replay, and the
   * books are those without it; a snapshot is written first, so that no later start meets the input again.
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

  /** Replays the log without its last `count` inputs, so that the books are as they were before these inputs. */
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

  /** Replaces the segment by a snapshot of the venue, so that the next start replays nothing. */
  async snapshot(): Promise<void> {
    if (this.ended === null) await this.rotate()
  }

  /** Closes the files; further inputs are refused. */
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

  /** Removes the remains of a failed write from disk, so that no restart applies them. */
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

  /**
   * Writes a snapshot and begins a new segment. Once the snapshot exists, a start uses the new segment; until then it uses the
   * old one.
   */
  private async rotate(): Promise<void> {
    const { disk, venue, segment } = this
    const { directory } = this.options
    const number = segment.number + 1
    const path = join(directory, snapshotName(number))
    let next: Segment | null = null
    try {
      // If the snapshot is unreadable, a start replays the segments in order, so each must be whole.
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
      // Old files are harmless, and the next snapshot retries their removal.
      this.print(`What is older than the snapshot before this one can't be removed: ${reasonOf(error)}.`)
    }
  }

  /** Continues the segment after its snapshot could not be written. The next attempt follows after the same interval. */
  private async stay(snapshot: string, cause: unknown): Promise<void> {
    this.rotateAt = this.segment.length + this.segmentBytes
    try {
      await this.disk.remove(snapshot)
    } catch (error) {
      // The snapshot may exist, and a start would then ignore later records of the old segment. So the log takes no more inputs.
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

/** Makes the venue on which the inputs of a history are applied. */
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

/** Removes the files that are older than the last but one snapshot. */
const removeBefore = async (disk: LogDisk, directory: string, number: number): Promise<void> => {
  const names = await disk.list(directory)
  for (const [pattern, nameOf] of [
    [/^inputs-(\d+)\.log$/, segmentName] as const,
    [/^snapshot-(\d+)\.json$/, snapshotName] as const
  ]) {
    for (const old of numbersOf(names, pattern)) if (old < number) await disk.remove(join(directory, nameOf(old)))
  }
}

/** Refuses options that differ from those the venue began with, except its start time. */
const refuseOthers = (directory: string, began: VenueOptions, configured: VenueOptions): void => {
  const differs = (["seed", "tickMillis", "markets", "knobs"] as const).filter(
    (name) => !isDeepStrictEqual(began[name], configured[name])
  )
  if (differs.length === 0) return
  const names = differs.map((name) => (name === "tickMillis" ? "tick" : name)).join(", ")
  throw new VenueLogError(
    `The venue in ${directory} was begun with other options (${names}): give it those, or another directory.`
  )
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
