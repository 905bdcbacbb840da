/**
 * Encryption at rest (architecture section 8): AES-256-GCM with a key kept outside the database. A sealed value is 1 byte key
 * number, 12 bytes nonce, 16 bytes tag, ciphertext. Old keys stay readable, so that keys can be rotated. The row's table and
 * column are authenticated with the value: a value copied to another column does not open. The fingerprint key stays derived from
 * the first key for ever, because fingerprints are stored and searched.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  type KeyObject,
  randomBytes
} from "node:crypto"

export interface SealingKeys {
  /** The number of the key with which new values are sealed. */
  readonly current: number
  readonly keys: ReadonlyMap<number, Buffer>
}

export interface Sealing {
  /** Seals a text, or its bytes in UTF-8. */
  readonly seal: (text: string | Uint8Array, place: string) => Uint8Array
  readonly open: (sealed: Uint8Array, place: string) => string
  readonly openBytes: (sealed: Uint8Array, place: string) => Buffer
  /** Seals a sealed value again with the current key. Throws SealingError when it does not open. */
  readonly reseal: (sealed: Uint8Array, place: string) => Uint8Array
  /** The number of the key with which new values are sealed. */
  readonly current: () => number
  /** The numbers of all keys that can open values. */
  readonly numbers: () => ReadonlyArray<number>
  /** All keys, for a thread of this process that seals as well. */
  readonly keyring: () => SealingKeys
  /**
   * Adds keys for opening only; new values are still sealed with the current key. Throws SealingError when a known key differs.
   */
  readonly learn: (keyring: SealingKeys) => void
  /** Adds keys and seals later values with their current one. Throws SealingError when a known key differs. */
  readonly adopt: (keyring: SealingKeys) => void
  /** A keyed one-way hash (hex): finds equal values without storing them readably. */
  readonly fingerprint: (text: string) => string
  /** A fingerprint at a sixth of the cost, for comparison with one stored value: SHA-256 over the key and the text. */
  readonly quickFingerprint: (text: string) => string
}

/** The number of a key is one byte of every sealed value; 0 means no key. */
export const lastKeyNumber = 255

export class SealingError extends Error {}

/**
 * `keys` are 32 bytes each; throws SealingError if a value does not open. `readAgain` is called once for an unknown key number:
 * another process may have added the key before this one took over the database.
 */
export const makeSealing = (keyring: SealingKeys, readAgain?: () => SealingKeys): Sealing => {
  const keys = new Map<number, { readonly bytes: Buffer; readonly object: KeyObject }>()
  let number = keyring.current
  const learn = (more: SealingKeys): void => {
    for (const [at, bytes] of more.keys) {
      const known = keys.get(at)
      if (known !== undefined && !known.bytes.equals(bytes)) throw new SealingError(`key ${at} is not the one in use`)
      // Key objects, because passing key bytes to a cipher costs three times as much as the encryption itself.
      if (known === undefined) keys.set(at, { bytes, object: createSecretKey(bytes) })
    }
  }
  const adopt = (more: SealingKeys): void => {
    learn(more)
    if (!keys.has(more.current)) throw new SealingError(`key ${more.current} is missing from the key file`)
    number = more.current
  }
  adopt(keyring)
  const first = keyring.keys.get(Math.min(...keyring.keys.keys())) as Buffer
  const fingerprintKey = createSecretKey(createHmac("sha256", first).update("fingerprint").digest())
  const quickKey = createHmac("sha256", first).update("quick fingerprint").digest("hex")

  const keyOf = (at: number): KeyObject | undefined => {
    if (!keys.has(at) && readAgain !== undefined) learn(readAgain())
    return keys.get(at)?.object
  }
  const sealBytes = (plain: Uint8Array | string, place: string): Uint8Array => {
    const nonce = nextNonce()
    const cipher = createCipheriv("aes-256-gcm", keys.get(number)?.object as KeyObject, nonce)
    cipher.setAAD(placeBytes(place))
    const body = typeof plain === "string" ? cipher.update(plain, "utf8") : cipher.update(plain)
    cipher.final()
    const sealed = Buffer.allocUnsafe(29 + body.length)
    sealed[0] = number
    sealed.set(nonce, 1)
    sealed.set(cipher.getAuthTag(), 13)
    sealed.set(body, 29)
    return sealed
  }
  const openBytes = (sealed: Uint8Array, place: string): Buffer => {
    const key = keyOf(sealed[0] ?? 0)
    if (key === undefined) throw new SealingError(`sealed with unknown key ${sealed[0]} (${place})`)
    // A truncated value is refused here: the cipher would accept a shorter, weaker tag.
    if (sealed.length < 29) throw new SealingError(`a sealed value of ${place} is too short`)
    const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(1, 13))
    decipher.setAAD(placeBytes(place))
    decipher.setAuthTag(sealed.subarray(13, 29))
    try {
      // The cipher mode has no padding, so the first part already holds the whole text.
      const plain = decipher.update(sealed.subarray(29))
      decipher.final()
      return plain
    } catch {
      throw new SealingError(`a sealed value of ${place} does not open: wrong key or altered data`)
    }
  }
  return {
    seal: sealBytes,
    open: (sealed, place) => openBytes(sealed, place).toString("utf8"),
    openBytes,
    reseal: (sealed, place) => sealBytes(openBytes(sealed, place), place),
    current: () => number,
    numbers: () => [...keys.keys()].toSorted((a, b) => a - b),
    keyring: () => ({ current: number, keys: new Map([...keys].map(([at, { bytes }]) => [at, bytes])) }),
    learn,
    adopt,
    fingerprint: (text) => createHmac("sha256", fingerprintKey).update(text).digest("hex"),
    quickFingerprint: (text) => hash("sha256", `${quickKey}\n${text}`, "hex")
  }
}

const places = new Map<string, Buffer>()
/** The names of table and column as bytes. They are cached, because there are only as many as sealed columns. */
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
