/**
 * What a running service leaves in its data directory for its own command line: where it listens and how to be let in
 * (operator surface: service.json, operator.key, demo.json). Written whole or not at all; secrets are 0600.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { join, resolve } from "node:path"

export interface ServiceFile {
  readonly url: string
  readonly pid: number
  readonly caFile: string | null
  readonly operatorKeyFile: string
}

export const dataFiles = (dataDirectory: string) => {
  const root = resolve(dataDirectory)
  return {
    root,
    service: join(root, "service.json"),
    operatorKey: join(root, "operator.key"),
    demo: join(root, "demo.json"),
    demoClient: join(root, "demo-client.json"),
    postgres: join(root, "postgres")
  }
}
export type DataFiles = ReturnType<typeof dataFiles>

/** Makes the directory, readable by its owner alone. */
export const openDataDirectory = (dataDirectory: string): DataFiles => {
  const files = dataFiles(dataDirectory)
  mkdirSync(files.root, { recursive: true, mode: 0o700 })
  chmodSync(files.root, 0o700)
  return files
}

export const readIfThere = (path: string): string | null => (existsSync(path) ? readFileSync(path, "utf8") : null)

export const removeFile = (path: string): void => rmSync(path, { force: true })
