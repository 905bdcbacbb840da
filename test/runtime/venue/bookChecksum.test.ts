/**
 * F30: the checksum of an order book, against the venue's published example, the CRC catalogue and a plain computation.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { crc32 } from "node:zlib"
import { bookChecksum, type Level } from "../../../src/runtime/services/market/bookChecksum.ts"
import { crcCases } from "../../fixtures/golden.ts"

/** CRC-32 (IEEE) bit by bit. */
const plainCrc = (text: string): number => {
  let crc = 0xffffffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc
}

const level = fc.tuple(fc.nat().map(String), fc.nat().map(String))
const side = fc.array(level, { maxLength: 60 })

describe("book checksum (F30)", () => {
  it("CRC-001: the published book", () => {
    const { bids, asks, checksum } = crcCases.book
    assert.strictEqual(bookChecksum(bids, asks), checksum)
  })

  it("CRC-003: the catalogue's check value", () => {
    assert.strictEqual(crc32(crcCases.catalogue.ascii).toString(16), crcCases.catalogue.hex)
  })

  it("the checksum of an empty book is 0 (A2-06)", () => assert.strictEqual(bookChecksum([], []), 0))

  it("the longer side continues alone, up to 25 levels a side, as in a plain computation", () =>
    fc.assert(
      fc.property(side, side, (bids, asks) => {
        const text = Array.from({ length: 25 }, (_, at): ReadonlyArray<Level | undefined> => [bids[at], asks[at]])
          .flat()
          .filter((found) => found !== undefined)
          .map(([price, qty]) => `${price}:${qty}`)
          .join(":")
        assert.strictEqual(bookChecksum(bids, asks), plainCrc(text) | 0)
      })
    ))
})
