/** The key of a venue: made once, in a file readable by its owner alone, sent as bearer token, compared in constant time. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import { existsSync, readFileSync, statSync } from "node:fs"
import { writeWhole } from "./writeWhole.ts"

/** The key of a file, which is created if missing. Throws a sentence for a file that others can read, or one without a key. */
export const ensureKey = (file: string): string => {
  // Atomic: a file without a key would block every later start.
  if (!existsSync(file)) writeWhole(file, `vk_${randomBytes(32).toString("base64url")}`)
  if (process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0) {
    throw new Error(`The key file ${file} can be read by others: chmod 600 it.`)
  }
  const key = readFileSync(file, "utf8").trim()
  if (key === "") throw new Error(`The key file ${file} is empty: remove it, and a new one is made.`)
  if (!/^[\x21-\x7e]{1,1024}$/.test(key)) throw new Error(`The key file ${file} must hold one key and nothing else.`)
  return key
}

/** Whether an Authorization header holds the key, in constant time. */
export const keyTest = (key: string): ((authorization: string | undefined) => boolean) => {
  const expected = digest(`Bearer ${key}`)
  return (authorization) => timingSafeEqual(digest(authorization ?? ""), expected)
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()
