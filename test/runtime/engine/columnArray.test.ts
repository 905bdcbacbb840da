/** Columns of a batch equal the driver's arrays to the byte, filled value by value, with reused buffers. */
import { PgTypes } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as fc from "fast-check"
import { ColumnArray, columnTypes } from "../../../src/runtime/engine/journal/ColumnArray.ts"

const int8 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const whole = fc.integer({ min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER })
const text = fc.oneof(fc.string({ maxLength: 60 }), fc.string({ unit: "grapheme", maxLength: 200 }))
const listOf = <A>(value: fc.Arbitrary<A>) => fc.array(fc.option(value, { nil: null, freq: 5 }), { minLength: 1 })

/** Compares the driver's encoding of the values with the column's, which uses one buffer twice. */
const same = <A>(
  kind: ConstructorParameters<typeof ColumnArray>[0],
  arrayOid: number,
  values: ReadonlyArray<A | null>,
  add: (column: ColumnArray, value: A) => void,
  driver: (value: A) => unknown = (value) => value
): void => {
  const expected = Result.getOrThrow(
    PgTypes.encode(
      values.map((value) => (value === null ? null : driver(value))),
      arrayOid
    )
  )
  const column = new ColumnArray(kind)
  for (const fill of [1, 2]) {
    for (const value of values) {
      if (value === null) column.null()
      else add(column, value)
    }
    const { oid, value } = column.parameter()
    assert.strictEqual(oid, arrayOid)
    assert.isTrue(Buffer.from(expected).equals(value as Uint8Array), `fill ${fill}`)
    column.clear()
  }
}

describe("ColumnArray", () => {
  it("numbers: 64-bit integers as bigints and safe integers as numbers", () => {
    fc.assert(fc.property(listOf(int8), (values) => same("int8", 1016, values, (column, value) => column.int8(value))))
    fc.assert(
      fc.property(listOf(whole), (values) => same("int8", 1016, values, (column, value) => column.int8(value), BigInt))
    )
  })

  it("texts of any script, short and long, with lone surrogates as the driver replaces them", () => {
    fc.assert(fc.property(listOf(text), (values) => same("text", 1009, values, (column, value) => column.text(value))))
    same("text", 1009, ["\ud800", "a".repeat(100_000), "é".repeat(41)], (column, value) => column.text(value))
  })

  it("bytes and booleans", () => {
    const bytes = fc.uint8Array({ maxLength: 300 })
    fc.assert(
      fc.property(listOf(bytes), (values) => same("bytea", 1001, values, (column, value) => column.bytea(value)))
    )
    fc.assert(
      fc.property(listOf(fc.boolean()), (values) => same("bool", 1000, values, (column, value) => column.bool(value)))
    )
  })

  it("a value that is no 64-bit integer throws", () => {
    for (const value of [2n ** 63n, -(2n ** 63n) - 1n, 2 ** 63, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.throws(() => new ColumnArray("int8").int8(value), RangeError)
    }
  })

  it("a connection with these types accepts a column and the driver's own arrays alike", () => {
    const types = columnTypes()
    const column = new ColumnArray("text")
    column.text("a")
    column.text("bc")
    const own = Result.getOrThrow(PgTypes.encodeParameter(column.parameter(), types))
    const driver = Result.getOrThrow(PgTypes.array(["a", "bc"], PgTypes.OID.text))
    assert.deepStrictEqual(Result.getOrThrow(PgTypes.encodeParameter(driver, types)), own)
  })
})
