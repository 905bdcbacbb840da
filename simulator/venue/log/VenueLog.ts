/**
 * The log of a venue: inputs are on the disk before the venue plays them and before anybody hears what came of them, so that
 * the venue in memory is always the one that its log replays to. Inputs that come together are one record and one write: a
 * crash leaves all of them or none, and no whole record ever follows a torn one. The log of a directory is a snapshot (none
 * at first) and one segment of inputs that came after it; a segment that has grown long is replaced by a new snapshot and an
 * empty segment.
 */
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { Venue } from "../core/Venue.ts"
import type { VenueInput, VenueListeners, VenueOptions } from "../core/VenueInput.ts"
import type { VenueState } from "../core/VenueState.ts"
import { type LogDisk, type LogFile, realDisk } from "./LogDisk.ts"
import { BrokenRecord, lineOf, readRecords } from "./records.ts"

/** The log can't be used; in words for whoever started the venue or asked it. */
export class VenueLogError extends Error {
  /** False when it is not sure that the refused inputs are gone: they may be there after a restart. */
  readonly certain: boolean

  constructor(sentence: string, certain = true) {
    super(sentence)
    this.certain = certain
  }
}

export interface VenueLogOptions {
  /** There already; of this venue alone. */
  readonly directory: string
  /** Those of the venue's first start; of a venue that is there already all but `startAt` must be the same. */
  readonly venue: VenueOptions
  /** A segment longer than this is replaced by a snapshot. */
  readonly segmentBytes?: number
  readonly disk?: LogDisk
  /** Wall time, Unix ms. */
  readonly wall?: () => number
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

const format = 1
const usualSegmentBytes = 16 * 1024 * 1024

const segmentName = (number: number): string => `inputs-${number}.log`
const snapshotName = (number: number): string => `snapshot-${number}.json`

export class VenueLog {
  /** The venue as its log has it. Whoever appends inputs plays them on it, all of them before the next are appended. */
  readonly venue: Venue
  /** Set when the log ended in a torn record, as a crash leaves it. */
  readonly cut: CutTail | null
  /** Wall time of the last record, Unix ms; null: there is none yet. */
  writtenAt: number | null
  private readonly directory: string
  private readonly disk: LogDisk
  private readonly wall: () => number
  private readonly segmentBytes: number
  private rotateAt: number
  private segment: Segment
  /** What is past the whole records must be cut before the next write. */
  private dirty = false
  /** Why nothing can be appended any more. */
  private ended: string | null = null

  private constructor(
    { directory, disk = realDisk, wall = Date.now, segmentBytes = usualSegmentBytes }: VenueLogOptions,
    opened: Opened
  ) {
    this.directory = directory
    this.disk = disk
    this.wall = wall
    this.segmentBytes = segmentBytes
    this.rotateAt = segmentBytes
    this.venue = opened.venue
    this.segment = opened.segment
    this.cut = opened.cut
    this.writtenAt = opened.writtenAt
  }

  /** Opens the log of a directory and replays it; a directory without one begins a new venue. Throws VenueLogError. */
  static async open(options: VenueLogOptions, listeners: VenueListeners): Promise<VenueLog> {
    const { directory, disk = realDisk } = options
    const names = await disk.list(directory)
    const number = Math.max(0, ...numbersOf(names, /^snapshot-(\d+)\.json$/))
    const path = join(directory, segmentName(number))
    const isThere = names.includes(segmentName(number))
    if (!isThere && numbersOf(names, /^inputs-(\d+)\.log$/).length > 0)
      throw new VenueLogError(`${path} is missing: the log can't be replayed.`)
    const snapshot = number === 0 ? null : await readSnapshot(disk, join(directory, snapshotName(number)))
    const found = isThere ? await readFile(disk, path) : noSegment
    const [header, ...groups] = found.values as readonly [Header | undefined, ...ReadonlyArray<Group>]
    if (header !== undefined && header.format !== format)
      throw new VenueLogError(`${path} has format ${header.format}, and only ${format} can be read.`)
    const first = snapshot?.state.options ?? header?.options ?? options.venue
    refuseOthers(directory, first, options.venue)
    const venue = replayed(path, { options: first, state: snapshot?.state ?? null, groups }, listeners)
    const torn = found.bytes - found.wholeBytes
    const segment =
      header === undefined
        ? await beginSegment(disk, directory, number, first)
        : { number, file: await disk.open(path), length: found.wholeBytes }
    if (torn > 0) await segment.file.cut(segment.length)
    await removeOthers(disk, directory, number)
    const writtenAt = groups.at(-1)?.at ?? snapshot?.at ?? null
    return new VenueLog(options, { venue, segment, writtenAt, cut: torn > 0 ? { file: path, bytes: torn } : null })
  }

  /**
   * Writes inputs, in order, as one record; they are on the disk when it completes. One call at a time. After a failure,
   * VenueLogError, nothing of them is there, unless it says that it is not sure; the next call tries the disk again.
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
    const { directory, disk, venue, segment } = this
    const number = segment.number + 1
    const path = join(directory, snapshotName(number))
    const snapshot: Snapshot = { at: this.writtenAt, state: venue.state() }
    let next: Segment | null = null
    try {
      next = await beginSegment(disk, directory, number, venue.options)
      await disk.replace(path, lineOf(snapshot))
    } catch (error) {
      await next?.file.close()
      return this.stay(path, error)
    }
    this.segment = next
    this.rotateAt = this.segmentBytes
    this.dirty = false
    await segment.file.close()
    await removeOthers(disk, directory, number)
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

interface Opened {
  readonly venue: Venue
  readonly segment: Segment
  readonly writtenAt: number | null
  readonly cut: CutTail | null
}

interface Snapshot {
  /** As `writtenAt`. */
  readonly at: number | null
  readonly state: VenueState
}

interface Header {
  readonly format: number
  readonly options: VenueOptions
}

/** What one record holds but the first, which is the header. */
interface Group {
  /** Wall time at which it was written, Unix ms. */
  readonly at: number
  readonly inputs: ReadonlyArray<VenueInput>
}

interface FoundSegment {
  readonly values: ReadonlyArray<unknown>
  readonly wholeBytes: number
  readonly bytes: number
}

const noSegment: FoundSegment = { values: [], wholeBytes: 0, bytes: 0 }

const numbersOf = (names: ReadonlyArray<string>, pattern: RegExp): ReadonlyArray<number> =>
  names.flatMap((name) => (pattern.exec(name)?.[1] === undefined ? [] : [Number(pattern.exec(name)?.[1])]))

const readFile = async (disk: LogDisk, path: string): Promise<FoundSegment> => {
  const bytes = await disk.read(path)
  try {
    return { ...readRecords(bytes), bytes: bytes.length }
  } catch (error) {
    if (error instanceof BrokenRecord) throw new VenueLogError(`${path}: ${error.message}; the log can't be replayed.`)
    throw error
  }
}

/** A snapshot is written whole or not at all, so a torn one is a fault of the disk. */
const readSnapshot = async (disk: LogDisk, path: string): Promise<Snapshot> => {
  const { values, wholeBytes, bytes } = await readFile(disk, path)
  if (values.length !== 1 || wholeBytes !== bytes) throw new VenueLogError(`${path}: the snapshot is broken.`)
  return values[0] as Snapshot
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
  await file.cut(0)
  await file.write(0, bytes)
  return { number, file, length: bytes.length }
}

/** The venue that a log makes; its listeners hear what comes after. */
const replayed = (
  path: string,
  log: {
    readonly options: VenueOptions
    readonly state: VenueState | null
    readonly groups: ReadonlyArray<Group>
  },
  listeners: VenueListeners
): Venue => {
  let live = false
  const whenLive: VenueListeners = {
    event: (event) => live && listeners.event(event),
    market: (message) => live && listeners.market(message)
  }
  const venue = new Venue(log.options, whenLive, log.state)
  log.groups.forEach((group, n) => {
    try {
      for (const input of group.inputs) venue.apply(input)
    } catch (error) {
      throw new VenueLogError(`${path}: record ${n + 2} can't be played: ${reasonOf(error)}.`)
    }
  })
  live = true
  return venue
}

/** What an earlier snapshot left, and what one that never appeared began. */
const removeOthers = async (disk: LogDisk, directory: string, number: number): Promise<void> => {
  for (const name of await disk.list(directory)) {
    const of = /^(?:inputs|snapshot)-(\d+)\.(?:log|json)(\.new)?$/.exec(name)
    if (of !== null && (Number(of[1]) !== number || of[2] !== undefined)) await disk.remove(join(directory, name))
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
