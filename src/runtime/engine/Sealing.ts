/**
 * Encryption at rest (architecture section 8): AES-256-GCM with a key kept outside the database. A sealed value is
 * 1 byte key number, 12 bytes nonce, 16 bytes tag, ciphertext. Old keys stay readable, so that keys can be rotated.
 * The row's table and column are authenticated with it: a value copied to another column does not open.
 */
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject, randomBytes } from "node:crypto"

export interface SealingKeys {
  /** The key new values are sealed with. */
  readonly current: number
  readonly keys: ReadonlyMap<number, Buffer>
}

export interface Sealing {
  readonly seal: (text: string, place: string) => Uint8Array
  readonly open: (sealed: Uint8Array, place: string) => string
  /** A keyed one-way hash (hex), for finding equal values without storing them readably. */
  readonly fingerprint: (text: string) => string
}

export class SealingError extends Error {}

/** `keys` are 32 bytes each; throws SealingError when a value does not open. */
export const makeSealing = (keyring: SealingKeys): Sealing => {
  // Key objects: handing a cipher the bytes of a key costs three times the encryption itself.
  const keys = new Map([...keyring.keys].map(([number, bytes]) => [number, createSecretKey(bytes)]))
  const current: KeyObject | undefined = keys.get(keyring.current)
  if (current === undefined) throw new SealingError(`key ${keyring.current} is missing from the key file`)
  const first = keyring.keys.get(Math.min(...keyring.keys.keys())) as Buffer
  const fingerprintKey = createHmac("sha256", first).update("fingerprint").digest()
  return {
    seal: (text, place) => {
      const nonce = nextNonce()
      const cipher = createCipheriv("aes-256-gcm", current, nonce)
      cipher.setAAD(placeBytes(place))
      const body = cipher.update(text, "utf8")
      cipher.final()
      const sealed = Buffer.allocUnsafe(29 + body.length)
      sealed[0] = keyring.current
      sealed.set(nonce, 1)
      sealed.set(cipher.getAuthTag(), 13)
      sealed.set(body, 29)
      return sealed
    },
    open: (sealed, place) => {
      const key = keys.get(sealed[0] ?? -1)
      if (key === undefined) throw new SealingError(`sealed with unknown key ${sealed[0]} (${place})`)
      // A cut value is refused here: the cipher would take a shorter tag for a weaker one.
      if (sealed.length < 29) throw new SealingError(`a sealed value of ${place} is too short`)
      const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(1, 13))
      decipher.setAAD(placeBytes(place))
      decipher.setAuthTag(sealed.subarray(13, 29))
      try {
        return Buffer.concat([decipher.update(sealed.subarray(29)), decipher.final()]).toString("utf8")
      } catch {
        throw new SealingError(`a sealed value of ${place} does not open: wrong key or altered data`)
      }
    },
    fingerprint: (text) => createHmac("sha256", fingerprintKey).update(text).digest("hex")
  }
}

const places = new Map<string, Buffer>()
/** Bytes of a table and column; there are as many as sealed columns. */
const placeBytes = (place: string): Buffer => {
  let bytes = places.get(place)
  if (bytes === undefined) places.set(place, (bytes = Buffer.from(place)))
  return bytes
}

// A nonce is 8 random bytes and a 4-byte counter: no nonce repeats under a key, however many values a process seals.
const nonceCounterLimit = 2 ** 32
let prefix = randomBytes(8)
let counter = 0
const nextNonce = (): Buffer => {
  if (counter === nonceCounterLimit) {
    prefix = randomBytes(8)
    counter = 0
  }
  const nonce = Buffer.allocUnsafe(12)
  nonce.set(prefix, 0)
  nonce.writeUInt32BE(counter++, 8)
  return nonce
}
