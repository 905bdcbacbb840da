/**
 * Encryption at rest (architecture section 8) as properties: values that open, values that are refused, and key
 * rotation.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { makeSealing, SealingError } from "../../../src/runtime/engine/sealing/Sealing.ts"

const key = (byte: number) => Buffer.alloc(32, byte)
const sealing = makeSealing({ current: 1, keys: new Map([[1, key(1)]]) })
const texts = fc.string({ unit: "binary", maxLength: 200 })
const place = "clients.email"

describe("sealing", () => {
  it("a value sealed for a place opens there, and nowhere else", () => {
    fc.assert(
      fc.property(texts, fc.string(), fc.string(), (text, here, there) => {
        const sealed = sealing.seal(text, here)
        assert.strictEqual(sealing.open(sealed, here), text)
        if (here !== there) assert.throws(() => sealing.open(sealed, there), SealingError)
      })
    )
  })

  it("a changed byte anywhere is refused", () => {
    fc.assert(
      fc.property(texts, fc.nat(), fc.integer({ min: 1, max: 255 }), (text, at, change) => {
        const sealed = Buffer.from(sealing.seal(text, place))
        const index = at % sealed.length
        sealed[index] = (sealed[index] as number) ^ change
        assert.throws(() => sealing.open(sealed, place), SealingError)
      })
    )
  })

  it("a shortened or longer value is refused, at every length", () => {
    fc.assert(
      fc.property(texts, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 4 }), (text, at, more) => {
        const sealed = sealing.seal(text, place)
        assert.throws(() => sealing.open(sealed.subarray(0, at % sealed.length), place), SealingError)
        assert.throws(() => sealing.open(Buffer.concat([sealed, more]), place), SealingError)
      })
    )
    const empty = sealing.seal("", place)
    for (let length = 0; length < empty.length; length++)
      assert.throws(() => sealing.open(empty.subarray(0, length), place), SealingError)
  })

  it("two seals of one text differ, and neither shows the text", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 8, maxLength: 40 }), (text) => {
        const [one, two] = [sealing.seal(text, place), sealing.seal(text, place)]
        assert.notDeepEqual(one, two)
        assert.strictEqual(Buffer.from(one).indexOf(text), -1)
      })
    )
    const nonces = Array.from({ length: 5_000 }, () =>
      Buffer.from(sealing.seal("x", place).subarray(1, 13)).toString("hex")
    )
    assert.strictEqual(new Set(nonces).size, nonces.length)
  })

  it("rotation: the new key seals, the old one still opens, a removed key does not", () => {
    const rotated = makeSealing({
      current: 2,
      keys: new Map([
        [1, key(1)],
        [2, key(2)]
      ])
    })
    const onlyNew = makeSealing({ current: 2, keys: new Map([[2, key(2)]]) })
    const wrong = makeSealing({ current: 1, keys: new Map([[1, key(9)]]) })
    fc.assert(
      fc.property(texts, (text) => {
        const before = sealing.seal(text, place)
        const after = rotated.seal(text, place)
        assert.strictEqual(rotated.open(before, place), text)
        assert.strictEqual(onlyNew.open(after, place), text)
        assert.strictEqual(after[0], 2)
        assert.throws(() => onlyNew.open(before, place), SealingError)
        assert.throws(() => wrong.open(before, place), SealingError)
      })
    )
    assert.strictEqual(rotated.fingerprint("a"), sealing.fingerprint("a"))
    assert.throws(() => makeSealing({ current: 3, keys: new Map([[1, key(1)]]) }), SealingError)
  })

  it("fingerprints are equal for equal texts only, and another key gives others", () => {
    const other = makeSealing({ current: 1, keys: new Map([[1, key(5)]]) })
    fc.assert(
      fc.property(texts, texts, (one, two) => {
        const equal = Buffer.from(one).equals(Buffer.from(two))
        assert.strictEqual(sealing.fingerprint(one) === sealing.fingerprint(two), equal)
        assert.notStrictEqual(sealing.fingerprint(one), other.fingerprint(one))
        assert.match(sealing.fingerprint(one), /^[0-9a-f]{64}$/)
      })
    )
  })
})
