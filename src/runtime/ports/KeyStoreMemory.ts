/** Encryption keys in memory, for tests and services with temporary keys: the guarantees of KeyStore without a file. */
import { SealingError, type SealingKeys } from "../engine/sealing/Sealing.ts"
import type { KeyStore } from "./KeyStore.ts"

/** A key store in memory that starts with the given keys. */
export const keyStoreMemory = (given: SealingKeys): KeyStore => {
  const keys = new Map(given.keys)
  return {
    read: () => ({ current: Math.max(...keys.keys()), keys: new Map(keys) }),
    add: (number, key) => {
      if (keys.has(number)) throw new SealingError(`key ${number} is there already`)
      keys.set(number, Buffer.from(key))
    }
  }
}
