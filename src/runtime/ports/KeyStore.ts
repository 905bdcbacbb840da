/** The storage of encryption keys, as a port: the key file in production (adapters/keyFile.ts). */
import type { SealingKeys } from "../engine/sealing/Sealing.ts"

/** The stored sealing keys. Both methods throw SealingError for a damaged store, otherwise the errors of the file system. */
export interface KeyStore {
  /** All stored keys, and the number of the one that seals new values. */
  readonly read: () => SealingKeys
  /** Adds a key of 32 bytes; it is durable when this returns. A number is used only once. */
  readonly add: (number: number, key: Buffer) => void
}
