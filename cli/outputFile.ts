/**
 * The file of `--output`: new, readable by its owner alone, and there only once it is whole (operator surface, document
 * show and ledger export). Only a regular file is ever replaced: a device, a pipe or a link is somebody's arrangement.
 */
import { closeSync, fsyncSync, lstatSync, openSync, renameSync, rmSync, writeSync } from "node:fs"
import { CliFailure, cliFailure, exitStatus, type Globals } from "./CliIo.ts"

/** Looked at before the service is asked, so that no audited read comes to nothing. */
export const refuseExisting = (file: string, globals: Globals): void => {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isFile()) throw cliFailure(exitStatus.refused, 4092, notRegular)
  if (globals.yes !== true) {
    throw cliFailure(exitStatus.refused, 4092, "The file of --output exists: overwrite it with --yes.")
  }
}

const notRegular = "The file of --output is not a regular file: it is never replaced."

/** Fills FILE.part and gives it its name once it is whole; whatever ends the command before that takes it away again. */
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

/** What an export that was killed left behind is used by no other. */
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
/** Files being written in this process. */
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

/** Until `settled`, the file goes when the process ends by itself or by a signal, which then has its usual effect. */
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
