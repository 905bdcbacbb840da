/** Keys of partners and operators: random bits. The database holds only their hash (A1-06, A1-07). */
import { createHash, randomBytes } from "node:crypto"

export interface Secret {
  readonly key: string
  readonly hash: string
  readonly prefix: string
}

/** A fresh key: 256 random bits behind a marker. Only the hash may be stored. */
export const makeSecret = (marker: "pbk_" | "bok_"): Secret =>
  secretOf(`${marker}${randomBytes(32).toString("base64url")}`)

/** A key with its hash and prefix; only those two may be stored. */
export const secretOf = (key: string): Secret => ({ key, hash: hashKey(key), prefix: key.slice(0, 10) })

/** The hash by which a key is found: SHA-256 of the whole key, hexadecimal. */
export const hashKey = (key: string): string => createHash("sha256").update(key).digest("hex")
