/**
 * The checksum of an order book: CRC-32 (IEEE) as a signed 32-bit integer over "bidPx:bidQty:askPx:askQty:...", best
 * levels first, up to 25 levels a side. Bids and asks alternate; after the end of the shorter side the longer one
 * continues alone. The strings are used exactly as given. An empty book has checksum 0 (F30, A2-06).
 */
import { crc32 } from "node:zlib"

export type Level = readonly [price: string, qty: string]

/** Levels per side that the checksum covers. */
const depth = 25

export const bookChecksum = (bids: ReadonlyArray<Level>, asks: ReadonlyArray<Level>): number => {
  const parts: Array<string> = []
  for (let at = 0; at < depth; at++) {
    const bid = bids[at]
    const ask = asks[at]
    if (bid !== undefined) parts.push(bid[0], bid[1])
    if (ask !== undefined) parts.push(ask[0], ask[1])
  }
  return crc32(parts.join(":")) | 0
}
