/**
 * The file of `--output`: a new file, readable only by its owner, which gets its name only once it is complete. Only a
 * regular file is ever replaced; devices, pipes and links are refused (operator surface, document show and ledger export).
 */
import { closeSync, fsyncSync, lstatSync, openSync, renameSync, rmSync, writeSync } from "node:fs"
import { CliFailure, cliFailure, exitStatus, type Globals } from "./CliIo.ts"

/** Refuses an existing file. Called before the service is called, so that no audited read is wasted. */
export const refuseExisting = (file: string, globals: Globals): void => {
  const found = writing(() => lstatSync(file, { throwIfNoEntry: false }))
  if (found === undefined) return
  if (!found.isFile()) throw cliFailure(exitStatus.refused, 4092, notRegular)
  if (globals.yes !== true) {
    throw cliFailure(exitStatus.refused, 4092, "The file of --output exists: overwrite it with --yes.")
  }
}

const notRegular = "The file of --output is not a regular file: it is never replaced."

/** Writes FILE.part and renames it once complete; an interrupted command removes it. */
export const intoFile = async <A>(
  file: string,
  fill: (write: (content: string | Uint8Array) => void) => Promise<A>
): Promise<A> => {
  const part = `${file}.part`
  const descriptor = writing(() => openPart(part))
  begin(part)
  let open = true
  try {
    const filled = await fill((content) => writing(() => writeAll(descriptor, content)))
    writing(() => fsyncSync(descriptor))
    open = false
    closeSync(descriptor)
    writing(() => {
      refuseExisting(file, { yes: true })
      renameSync(part, file)
    })
    return filled
  } catch (error) {
    if (open) closeSync(descriptor)
    rmSync(part, { force: true })
    throw error
  } finally {
    settled(part)
  }
}

/** Opens FILE.part, and replaces one that a killed export left behind. */
const openPart = (part: string): number => {
  refuseExisting(part, { yes: true })
  rmSync(part, { force: true })
  return openSync(part, "wx", 0o600)
}

const writeAll = (descriptor: number, content: string | Uint8Array): void => {
  const bytes = typeof content === "string" ? Buffer.from(content) : content
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at)
}

const writing = <A>(write: () => A): A => {
  try {
    return write()
  } catch (error) {
    if (error instanceof CliFailure) throw error
    throw cliFailure(exitStatus.usage, 4000, "The file of --output can not be written.")
  }
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const
/** Files that this process has not renamed to their final name yet. They are removed when the process ends early. */
const unfinished = new Set<string>()

const removeUnfinished = (): void => {
  for (const part of unfinished) rmSync(part, { force: true })
  unfinished.clear()
}

const interrupted = (signal: NodeJS.Signals): void => {
  removeUnfinished()
  unwatch()
  process.kill(process.pid, signal)
}

/** Removes the file when the process ends before `settled`, by itself or by a signal. The signal then has its usual effect. */
const begin = (part: string): void => {
  if (unfinished.size === 0) {
    process.on("exit", removeUnfinished)
    for (const signal of signals) process.on(signal, interrupted)
  }
  unfinished.add(part)
}

const settled = (part: string): void => {
  unfinished.delete(part)
  if (unfinished.size === 0) unwatch()
}

const unwatch = (): void => {
  process.off("exit", removeUnfinished)
  for (const signal of signals) process.off(signal, interrupted)
}
