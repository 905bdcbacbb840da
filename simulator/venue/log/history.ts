/**
 * Finds a venue's history in a directory: the newest whole snapshot and every later segment, without gaps. A broken snapshot is
 * skipped for the previous one, which is kept with its segment for that purpose.
 */
import { join } from "node:path"
import type { VenueInput, VenueOptions } from "../core/VenueInput.ts"
import type { LogDisk } from "./LogDisk.ts"
import { BrokenRecord, readRecords } from "./records.ts"
import { type Snapshot, snapshotOf } from "./snapshots.ts"

/** The log can't be used; the sentence is for the venue's user or caller. */
export class VenueLogError extends Error {
  /** False if the refused inputs may be on disk, so that they may be applied after a restart. */
  readonly certain: boolean

  constructor(sentence: string, certain = true) {
    super(sentence)
    this.certain = certain
  }
}

/** The first record of a segment: the log's format, and the venue's options. */
export interface Header {
  readonly format: number
  readonly options: VenueOptions
}

/** A group of inputs that one write stored. Every record after the header is such a group. */
export interface Group {
  /** Wall time of the write, Unix ms. */
  readonly at: number
  readonly inputs: ReadonlyArray<VenueInput>
}

export interface FoundSegment {
  readonly number: number
  readonly path: string
  readonly header: Header | null
  readonly groups: ReadonlyArray<Group>
  readonly wholeBytes: number
  readonly bytes: number
}

export interface History {
  /** Number of the snapshot; 0: none, the venue begins with segment 0. */
  readonly base: number
  readonly snapshot: Snapshot | null
  /** The segments from `base` on, oldest first; empty for a new venue. */
  readonly segments: ReadonlyArray<FoundSegment>
  /** Paths of skipped broken snapshots, and of remains of an interrupted rotation. */
  readonly broken: ReadonlyArray<string>
  readonly left: ReadonlyArray<string>
}

export const format = 1

export const segmentName = (number: number): string => `inputs-${number}.log`
export const snapshotName = (number: number): string => `snapshot-${number}.json`

/** Reads a directory; throws VenueLogError with the file that is missing or broken. */
export const readHistory = (disk: LogDisk, directory: string, names: ReadonlyArray<string>): History => {
  const found = newestSnapshot(disk, directory, names)
  const numbers = new Set(numbersOf(names, /^inputs-(\d+)\.log$/))
  const last = Math.max(found.base, ...numbers)
  if (numbers.size === 0 && found.snapshot === null && found.broken.length === 0)
    return { ...found, segments: [], left: drafts(directory, names) }
  const segments: Array<FoundSegment> = []
  for (let number = found.base; number <= last; number++) {
    const path = join(directory, segmentName(number))
    if (!numbers.has(number)) throw missing(path, found)
    segments.push(readSegment(disk, path, number))
  }
  const left: Array<string> = drafts(directory, names)
  while (segments.length > 1 && segments.at(-1)?.groups.length === 0) left.push((segments.pop() as FoundSegment).path)
  refuseGaps(segments)
  return { ...found, segments, left }
}

type Found = Pick<History, "base" | "snapshot" | "broken">

const newestSnapshot = (disk: LogDisk, directory: string, names: ReadonlyArray<string>): Found => {
  const broken: Array<string> = []
  for (const number of numbersOf(names, /^snapshot-(\d+)\.json$/).toSorted((one, other) => other - one)) {
    const path = join(directory, snapshotName(number))
    const snapshot = readSnapshot(disk, path)
    if (snapshot !== null) return { base: number, snapshot, broken }
    broken.push(path)
  }
  return { base: 0, snapshot: null, broken }
}

const readSnapshot = (disk: LogDisk, path: string): Snapshot | null => {
  const bytes = disk.read(path)
  try {
    const { values, wholeBytes } = readRecords(bytes)
    return wholeBytes === bytes.length ? snapshotOf(values) : null
  } catch (error) {
    if (error instanceof BrokenRecord) return null
    throw error
  }
}

const readSegment = (disk: LogDisk, path: string, number: number): FoundSegment => {
  const bytes = disk.read(path)
  try {
    const { values, wholeBytes } = readRecords(bytes)
    const [header = null, ...groups] = values as readonly [Header | undefined, ...ReadonlyArray<Group>]
    if (header !== null && header.format !== format)
      throw new VenueLogError(`${path} has format ${header.format}, and only ${format} can be read.`)
    return { number, path, header, groups, wholeBytes, bytes: bytes.length }
  } catch (error) {
    if (error instanceof BrokenRecord) throw new VenueLogError(`${path}: ${error.message}; the log can't be replayed.`)
    throw error
  }
}

const missing = (path: string, { broken }: Found): VenueLogError =>
  new VenueLogError(
    broken.length === 0
      ? `${path} is missing: the log can't be replayed.`
      : `${broken.join(", ")}: the snapshot is broken, and ${path}, which would replace it, is missing.`
  )

/** A segment with successors must be whole; a header is on disk before later files rely on its segment. */
const refuseGaps = (segments: ReadonlyArray<FoundSegment>): void => {
  segments.forEach(({ path, header, number, wholeBytes, bytes }, n) => {
    const next = segments[n + 1]
    if (header === null && (number > 0 || next !== undefined))
      throw new VenueLogError(`${path}: its first record is broken; the log can't be replayed.`)
    if (next !== undefined && wholeBytes < bytes)
      throw new VenueLogError(`${path}: its end is broken and ${next.path} follows it; the log can't be replayed.`)
  })
}

const drafts = (directory: string, names: ReadonlyArray<string>): Array<string> =>
  names.filter((name) => /^snapshot-\d+\.json\.new$/.test(name)).map((name) => join(directory, name))

export const numbersOf = (names: ReadonlyArray<string>, pattern: RegExp): ReadonlyArray<number> =>
  names.flatMap((name) => (pattern.exec(name)?.[1] === undefined ? [] : [Number(pattern.exec(name)?.[1])]))
