/**
 * Where a sandbox service kills itself with -9, for crash tests and for scenarios that kill: at the n-th passing of a point
 * (`--kill-at POINT:N`), counted from when it is ready, of points of rotations and passes from its start; or at the next
 * passing once it is asked by SIGUSR2 (`--kill-at on-signal`). Asked for `POINT stop` it freezes there (SIGSTOP) instead, so
 * that whoever asked can end others at that very moment; asked for `POINT of client:7` it does so at a commit of that mailbox alone.
 */
import { Effect } from "effect"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { readText } from "./runtime/adapters/postmasterPid.ts"
import {
  callPoints,
  eventPoints,
  type PausePoint,
  pausePoints,
  rarePoints,
  setPauseTrigger
} from "./runtime/engine/PausePoints.ts"
import { ServeError } from "./ServeError.ts"
import type { ServeOptions } from "./serveOptions.ts"

const points: ReadonlyArray<string> = [...pausePoints, ...callPoints, ...eventPoints, ...rarePoints]
const onSignal = "on-signal"

export const armKillPoint = (
  { sandbox, dataDir }: ServeOptions,
  { point, times }: NonNullable<ServeOptions["killAt"]>
): Effect.Effect<void, ServeError> =>
  Effect.suspend(() => {
    if (!sandbox || ![onSignal, ...points].includes(point)) {
      const sentence = `--kill-at is for sandboxes and takes one of: ${[...points, onSignal].join(", ")}.`
      return Effect.fail(new ServeError({ sentence }))
    }
    if (point === onSignal) process.on("SIGUSR2", () => armFrom(join(dataDir, "kill-at")))
    else if (isRare(point)) arm(point as PausePoint, times)
    return Effect.void
  })

/** The service is ready: what it commits by itself while it starts is not counted. */
export const armWhenReady = ({ point, times }: NonNullable<ServeOptions["killAt"]>): void => {
  if (point !== onSignal && !isRare(point)) arm(point as PausePoint, times)
}

const isRare = (point: string): boolean => (rarePoints as ReadonlyArray<string>).includes(point)

const arm = (
  point: PausePoint,
  times: number,
  {
    signal = "SIGKILL",
    subject
  }: { readonly signal?: "SIGKILL" | "SIGSTOP"; readonly subject?: string | undefined } = {}
): void => {
  let passed = 0
  setPauseTrigger(point, (subjects) => {
    if (subject !== undefined && !subjects().includes(subject)) return
    if (++passed === times) process.kill(process.pid, signal)
  })
}

/** The file names the point; whoever asked knows that it is armed when the file is gone. */
const armFrom = (file: string): void => {
  const [, point = "", how, subject] = /^(\S+)( stop)?(?: of (\S+))?$/.exec(readText(file)?.trim() ?? "") ?? []
  // A file that is not there, or names no point, stays as it is: nothing is armed.
  if (!points.includes(point)) return
  arm(point as PausePoint, 1, { signal: how === undefined ? "SIGKILL" : "SIGSTOP", subject })
  rmSync(file)
}
