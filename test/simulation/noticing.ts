/**
 * Finds the first runs that show a fault. The seeds that showed it last are stored (`noticedBy.json`, written by `npm
 * run simulate -- --noticed`) and tried first. This saves time and does not change the verdict.
 */
import { readFileSync } from "node:fs"
import type { Mutation } from "./bends.ts"
import { type Run, simulate } from "./simulate.ts"

/** The number of seeds within which a fault must show. */
export const patience = 200

export type NoticedBy = Readonly<Record<string, ReadonlyArray<number>>>
export const noticedByFile = new URL("noticedBy.json", import.meta.url)
const readNoticedBy = (): NoticedBy => JSON.parse(readFileSync(noticedByFile, "utf8")) as NoticedBy

interface Noticed {
  /** A run that shows the fault, for each invariant that noticed it. */
  readonly runs: ReadonlyMap<string, Run>
  /** True if the stored seeds were not enough, so that others were searched. */
  readonly searched: boolean
}

/** Runs the stored seeds of a fault, and then others, until each of its invariants has noticed it. */
export const noticing = ({ name: fault, shows, seams }: Mutation): Noticed => {
  const kept = readNoticedBy()[fault] ?? []
  const seeds = new Set([...kept, ...Array.from({ length: patience }, (_, n) => n + 1)])
  const runs = new Map<string, Run>()
  let searched = false
  for (const seed of seeds) {
    if (shows.every((name) => runs.has(name))) break
    searched ||= !kept.includes(seed)
    const run = simulate(seed, seams())
    const name = run.finding?.invariant
    if (name !== undefined && !runs.has(name)) runs.set(name, run)
  }
  return { runs, searched }
}
