/** The value of a deleted entry can be freed at once. In a Map, a replaced table that V8 keeps may hold it. */
import { assert, describe, it } from "@effect/vitest"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { ShortLivedMap } from "../../../src/runtime/engine/ShortLivedMap.ts"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as (options: { readonly type: "minor" | "major" }) => void

interface Kept {
  set(key: number, value: object): unknown
  delete(key: number): boolean
}

const alive = 64
const entries = 4_000
/** A full collection at the wrong moment hides the values that a map leaves behind, so that the test repeats. */
const rounds = 5
/** A value of some kilobytes. */
const value = (): object => Array.from({ length: 500 }, (_, at) => at)

/** Bytes of deleted values that survive a young collection after a map of the old generation held them. */
const leftBehind = (map: Kept): number => {
  for (let key = 0; key < alive; key++) map.set(key, value())
  collect({ type: "major" })
  const before = process.memoryUsage().heapUsed
  for (let key = alive; key < entries; key++) {
    map.set(key, value())
    map.delete(key - alive)
  }
  collect({ type: "minor" })
  collect({ type: "minor" })
  return process.memoryUsage().heapUsed - before
}

describe("entries that are added and deleted fast", () => {
  it("do not stay in memory with the tables that the map has replaced", () => {
    const found = Array.from({ length: rounds }, () => ({
      ofMap: leftBehind(new Map<number, object>()),
      ofShortLived: leftBehind(new ShortLivedMap<number, object>())
    }))
    assert.isTrue(
      found.some(({ ofMap, ofShortLived }) => ofMap > 0 && ofShortLived < ofMap / 4),
      JSON.stringify(found)
    )
  })

  it("keep their order and can be deleted while they are iterated", () => {
    const map = new ShortLivedMap<string, { n: number }>()
    for (const [n, key] of ["a", "b", "c"].entries()) map.set(key, { n })
    map.set("a", { n: 9 })
    assert.deepStrictEqual(
      [...map.entries()],
      [
        ["a", { n: 9 }],
        ["b", { n: 1 }],
        ["c", { n: 2 }]
      ]
    )
    const seen: Array<number> = []
    for (const { n } of map.values()) {
      seen.push(n)
      map.delete("b")
    }
    assert.deepStrictEqual(seen, [9, 2])
    assert.isFalse(map.delete("b"))
    assert.deepStrictEqual([map.size, map.has("a"), map.has("b"), map.get("b")], [2, true, false, undefined])
    map.clear()
    assert.deepStrictEqual([map.size, [...map.keys()]], [0, []])
  })
})
