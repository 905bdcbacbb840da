/**
 * Preloaded into a process (node --import): records which rows of their tables its machines use, each once, in a file of its
 * own in the folder of MACHINE_COVERAGE. The folder's file `now` names the current play; a client's objects belong to the play
 * during which the client was first seen, even if a later play advances the clock. Steps are written at once, so a killed
 * process loses none.
 */
import { subscribe } from "node:diagnostics_channel"
import { appendFileSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { rowTaken } from "../src/machines/describe.ts"
import { startOf } from "../src/machines/picture/MachineCoverage.ts"
import type { StepReport } from "../src/runtime/engine/machine/step.ts"

const folder = process.env["MACHINE_COVERAGE"]
const seen = new Set<string>()
/** The play that was running when each client was first seen. */
const came = new Map<unknown, string>()

const playedFor = (place: string, context: unknown): string => {
  const now = readFileSync(join(place, "now"), "utf8")
  const { clientId } = (context ?? {}) as { readonly clientId?: unknown }
  if (typeof clientId !== "number") return now
  const first = came.get(clientId) ?? now
  came.set(clientId, first)
  return first
}

if (folder !== undefined)
  subscribe("brokerage.machine.step", (message) => {
    const { machine, before, event, after } = message as StepReport
    const row = before === null || event === null ? startOf(after) : rowTaken(machine, before, event)
    const line = `${playedFor(folder, before?.context)}\t${machine.id}\t${row}`
    if (seen.has(line)) return
    seen.add(line)
    appendFileSync(join(folder, `${process.pid}.steps`), `${line}\n`)
  })
