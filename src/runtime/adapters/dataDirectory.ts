/**
 * The files that a running service leaves in its data directory for its own command line: its address and credentials (operator
 * surface: service.json, operator.key, demo.json, demo.curl). Written atomically; secrets are 0600.
 */
import { Effect, Schema } from "effect"
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join, resolve } from "node:path"
import { makeFolder } from "../../venue/makeFolder.ts"

/** The data directory can't be created or read. The sentence is for the operator. */
export class DataDirectoryError extends Schema.TaggedError<DataDirectoryError>()("DataDirectoryError", {
  sentence: Schema.String
}) {
  override get message() {
    return this.sentence
  }
}

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
    demoCurl: join(root, "demo.curl"),
    demoClient: join(root, "demo-client.json"),
    postgres: join(root, "postgres"),
    venue: join(root, "venue")
  }
}
export type DataFiles = ReturnType<typeof dataFiles>

/** Creates the directory, readable only by its owner. */
export const openDataDirectory = (dataDirectory: string): Effect.Effect<DataFiles, DataDirectoryError> =>
  Effect.suspend(() => {
    const files = dataFiles(dataDirectory)
    return Effect.try({
      try: () => {
        makeFolder(files.root)
        readdirSync(files.root)
        chmodSync(files.root, 0o700)
        return files
      },
      catch: (error) =>
        new DataDirectoryError({
          sentence: `The data directory ${files.root} can not be made or used (${(error as NodeJS.ErrnoException).code ?? String(error)}): name another with --data-dir.`
        })
    })
  })

export const readIfThere = (path: string): string | null => (existsSync(path) ? readFileSync(path, "utf8") : null)

export const removeFile = (path: string): void => rmSync(path, { force: true })
