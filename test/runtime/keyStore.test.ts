/** The guarantees of KeyStore, for the key file and for its double in memory (architecture, At rest). */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { keyFileStore, loadKeyFile } from "../../src/runtime/adapters/keyFile.ts"
import { SealingError } from "../../src/runtime/engine/sealing/Sealing.ts"
import type { KeyStore } from "../../src/runtime/ports/KeyStore.ts"
import { keyStoreMemory } from "../../src/runtime/ports/KeyStoreMemory.ts"

const folder = mkdtempSync(join(tmpdir(), "brokerage-keystore-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const stores: ReadonlyArray<readonly [name: string, open: () => KeyStore]> = [
  ["the key file", () => (loadKeyFile(folder), keyFileStore(folder))],
  ["memory", () => keyStoreMemory({ current: 1, keys: new Map([[1, Buffer.alloc(32, 1)]]) })]
]

describe.each(stores)("KeyStore in %s", (_name, open) => {
  it("has the added key beside the earlier ones, the highest number is the current key, and each number is given once", () => {
    const store = open()
    const first = store.read().keys.get(1)
    store.add(2, Buffer.alloc(32, 2))
    const { current, keys } = store.read()
    assert.strictEqual(current, 2)
    assert.deepStrictEqual([keys.get(1), keys.get(2)], [first, Buffer.alloc(32, 2)])
    assert.throws(() => store.add(2, Buffer.alloc(32, 3)), SealingError)
    assert.deepStrictEqual(store.read().keys.get(2), Buffer.alloc(32, 2))
  })
})
