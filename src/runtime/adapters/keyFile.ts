/**
 * The encryption keys at rest: `DATA_DIR/encryption.keys` (0600), one line for each key (`<number> <base64 of 32 bytes>`), the
 * highest number is the current one. Created at the first start; without it sealed values can't be read, so back it up apart from
 * the database. Keys are only added: backups of the database need the old ones.
 */
import { randomBytes } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { KeyStore } from "../ports/KeyStore.ts"
import { lastKeyNumber, SealingError, type SealingKeys } from "../engine/sealing/Sealing.ts"
import { writeWhole } from "./writeWhole.ts"

export const keyFileName = "encryption.keys"

/** Reads the key file of a data directory, or creates it. Throws SealingError if it is damaged. */
export const loadKeyFile = (dataDirectory: string): SealingKeys => {
  const path = join(dataDirectory, keyFileName)
  if (!existsSync(path)) writeKeys(path, new Map([[1, randomBytes(32)]]))
  return readKeys(path)
}

const readKeys = (path: string): SealingKeys => {
  const keys = new Map<number, Buffer>()
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (line.trim() === "") continue
    const [number, encoded] = line.trim().split(/\s+/)
    const key = Buffer.from(encoded ?? "", "base64")
    if (!/^[1-9]\d{0,2}$/.test(number ?? "") || Number(number) > lastKeyNumber || key.length !== 32) {
      throw new SealingError(`a line of ${keyFileName} is not a key number and 32 bytes in base64`)
    }
    keys.set(Number(number), key)
  }
  if (keys.size === 0) throw new SealingError(`${keyFileName} holds no key`)
  return { current: Math.max(...keys.keys()), keys }
}

/**
 * The key file as the key store of a running service: read each time, written atomically and flushed. A missing file is not
 * created again: a new first key would open no value.
 */
export const keyFileStore = (dataDirectory: string): KeyStore => {
  const path = join(dataDirectory, keyFileName)
  const read = (): SealingKeys => {
    if (!existsSync(path)) throw new SealingError(`${keyFileName} is missing`)
    return readKeys(path)
  }
  return {
    read,
    add: (number, key) => {
      const { keys } = read()
      if (keys.has(number)) throw new SealingError(`key ${number} is in ${keyFileName} already`)
      writeKeys(path, new Map([...keys, [number, key]]))
    }
  }
}

const writeKeys = (path: string, keys: ReadonlyMap<number, Buffer>): void =>
  writeWhole(path, [...keys].map(([number, key]) => `${number} ${key.toString("base64")}\n`).join(""))
