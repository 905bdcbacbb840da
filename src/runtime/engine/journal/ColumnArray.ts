/**
 * One column of a batch in PostgreSQL's binary array format, written value by value into a reusable buffer. The same bytes are
 * sent and sealed (decision 7).
 */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

/** The element and array types of the columns of a batch. */
const kinds = {
  int8: { element: PgTypes.OID.int8, array: 1016 },
  text: { element: PgTypes.OID.text, array: 1009 },
  bytea: { element: PgTypes.OID.bytea, array: 1001 },
  bool: { element: PgTypes.OID.bool, array: 1000 }
} as const
export type ColumnKind = keyof typeof kinds

/** The header consists of dimensions, null flag, element type, length and lower bound. */
const headerBytes = 20
const startBytes = 1_024
/** A buffer that a rare large value has made larger than this is dropped after use. */
const keptBytes = 1_048_576
/** For texts of at most this length a loop over the characters is faster than a call of the encoder. */
const shortText = 40
const twoTo32 = 4_294_967_296

export class ColumnArray {
  private bytes: Buffer = Buffer.allocUnsafeSlow(startBytes)
  private at = headerBytes
  private count = 0
  private nulls = 0
  private readonly kind: ColumnKind

  constructor(kind: ColumnKind) {
    this.kind = kind
  }

  null(): void {
    this.reserve(4)
    this.writeInt32(-1)
    this.nulls = 1
    this.count++
  }

  /** Appends a whole number; throws RangeError outside 64 bits. */
  int8(value: number | bigint): void {
    this.reserve(12)
    this.writeInt32(8)
    // Arithmetic on bigints allocates intermediate bigints: an amount that a number holds exactly is written as a number.
    const small = Number(value)
    if (Number.isSafeInteger(small)) {
      this.writeInt32(Math.floor(small / twoTo32))
      this.writeInt32(small)
    } else this.at = this.bytes.writeBigInt64BE(BigInt(value), this.at)
    this.count++
  }

  text(value: string): void {
    this.reserve(4 + value.length * 3)
    const start = this.at + 4
    const written = this.writeShort(value, start) ? value.length : this.bytes.write(value, start, "utf8")
    this.writeInt32(written)
    this.at += written
    this.count++
  }

  bytea(value: Uint8Array): void {
    this.reserve(4 + value.length)
    this.writeInt32(value.length)
    this.bytes.set(value, this.at)
    this.at += value.length
    this.count++
  }

  bool(value: boolean): void {
    this.reserve(5)
    this.writeInt32(1)
    this.bytes[this.at++] = value ? 1 : 0
    this.count++
  }

  /** The column as a parameter; valid until `clear`. */
  parameter(): PgTypes.Parameter {
    const { element, array } = kinds[this.kind]
    this.bytes.writeInt32BE(1, 0)
    this.bytes.writeInt32BE(this.nulls, 4)
    this.bytes.writeInt32BE(element, 8)
    this.bytes.writeInt32BE(this.count, 12)
    this.bytes.writeInt32BE(1, 16)
    return { [PgTypes.ParameterTypeId]: PgTypes.ParameterTypeId, oid: array, value: this.bytes.subarray(0, this.at) }
  }

  /** The values alone, without the array's header. */
  content(): Uint8Array {
    return this.bytes.subarray(headerBytes, this.at)
  }

  clear(): void {
    if (this.bytes.length > keptBytes) this.bytes = Buffer.allocUnsafeSlow(startBytes)
    this.at = headerBytes
    this.count = 0
    this.nulls = 0
  }

  private writeShort(value: string, start: number): boolean {
    if (value.length > shortText) return false
    const { bytes } = this
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i)
      if (code > 0x7f) return false
      bytes[start + i] = code
    }
    return true
  }

  /** The low 32 bits of a whole number. */
  private writeInt32(value: number): void {
    const { bytes, at } = this
    const bits = value | 0
    bytes[at] = bits >>> 24
    bytes[at + 1] = bits >>> 16
    bytes[at + 2] = bits >>> 8
    bytes[at + 3] = bits
    this.at = at + 4
  }

  private reserve(size: number): void {
    const needed = this.at + size
    if (needed <= this.bytes.length) return
    let capacity = this.bytes.length * 2
    while (capacity < needed) capacity *= 2
    const wider = Buffer.allocUnsafeSlow(capacity)
    wider.set(this.bytes.subarray(0, this.at))
    this.bytes = wider
  }
}

/**
 * The driver's codecs for a connection that sends such columns: an array that is already bytes is sent unchanged, any other array
 * is encoded as usual.
 */
export const columnTypes = (): PgTypes.Registry => {
  const registry = PgTypes.makeRegistry()
  for (const { array } of Object.values(kinds)) {
    registry.register<unknown>(array, {
      encode: (value) => (value instanceof Uint8Array ? Result.succeed(value) : PgTypes.encode(value, array)),
      decode: (bytes) => PgTypes.decode(bytes, array, 1)
    })
  }
  return registry
}
