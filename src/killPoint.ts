/**
 * Points where a sandbox service kills itself with SIGKILL, for crash tests and scenarios. `--kill-at POINT:N` kills at the
 * n-th pass of a point, counted from readiness (for points of rotations and passes from the start). `--kill-at on-signal` kills
 * at the next pass after SIGUSR2. With `POINT stop` the process freezes (SIGSTOP) instead, so that the test can kill other
 * processes at that moment; `POINT of client:7` limits it to a commit of that mailbox.
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

/** Starts the count once the service is ready: its own commits during the start do not count. */
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

/** Reads the point from the file, then removes the file to confirm that the point is armed. */
const armFrom = (file: string): void => {
  const [, point = "", how, subject] = /^(\S+)( stop)?(?: of (\S+))?$/.exec(readText(file)?.trim() ?? "") ?? []
  // A missing file, or one without a valid point, arms nothing.
  if (!points.includes(point)) return
  arm(point as PausePoint, 1, { signal: how === undefined ? "SIGKILL" : "SIGSTOP", subject })
  rmSync(file)
}
