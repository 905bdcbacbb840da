/** Where the encryption keys are kept, as a port: the key file in production (adapters/keyFile.ts). */
import type { SealingKeys } from "../engine/sealing/Sealing.ts"

/** Both throw: SealingError for a damaged store, otherwise what the file system throws. */
export interface KeyStore {
  /** Every key there is, as stored now. */
  readonly read: () => SealingKeys
  /** Adds a key of 32 bytes; it is there for good when this returns. A number is given once. */
  readonly add: (number: number, key: Buffer) => void
}
