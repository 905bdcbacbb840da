/**
 * The record format of the venue's log: one line with the CRC-32 of the JSON in eight hex digits, a space, the JSON. A record
 * with a wrong sum was torn by a crash if it is the last, else damaged by the disk.
 */
import { crc32 } from "node:zlib"

export const lineOf = (value: unknown): string => {
  const json = JSON.stringify(value)
  return `${sumOf(json)} ${json}\n`
}

export interface ReadRecords {
  readonly values: ReadonlyArray<unknown>
  /** The length of the whole records in bytes; a torn end follows them. */
  readonly wholeBytes: number
}

/** A broken record that whole records follow. */
export class BrokenRecord extends Error {
  readonly record: number

  constructor(record: number) {
    super(`record ${record} is broken and whole ones follow it`)
    this.record = record
  }
}

/** The records of a file up to its torn end; throws BrokenRecord, counted from 1. */
export const readRecords = (bytes: Buffer): ReadRecords => {
  const values: Array<unknown> = []
  let wholeBytes = 0
  let broken = false
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(0x0a, start)
    const end = newline === -1 ? bytes.length : newline
    const value = newline === -1 ? undefined : valueOf(bytes.toString("utf8", start, end))
    if (value === undefined) broken = true
    else if (broken) throw new BrokenRecord(values.length + 1)
    else {
      values.push(value)
      wholeBytes = end + 1
    }
    start = end + 1
  }
  return { values, wholeBytes }
}

const sumOf = (json: string): string => crc32(json).toString(16).padStart(8, "0")

/** Undefined if the line does not match its sum. */
const valueOf = (line: string): unknown => {
  const json = line.slice(9)
  if (line.slice(0, 9) !== `${sumOf(json)} `) return undefined
  const value: unknown = JSON.parse(json)
  return value
}
