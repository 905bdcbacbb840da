/**
 * The first runs that tell of a fault. Which seeds told of it last is kept (`noticedBy.json`, written by
 * `npm run simulate -- --noticed`) and tried first: that saves time, and decides nothing.
 */
import { readFileSync } from "node:fs"
import type { Mutation } from "./bends.ts"
import { type Run, simulate } from "./simulate.ts"

/** Seeds within which a fault must show. */
export const patience = 200

export type NoticedBy = Readonly<Record<string, ReadonlyArray<number>>>
export const noticedByFile = new URL("noticedBy.json", import.meta.url)
const readNoticedBy = (): NoticedBy => JSON.parse(readFileSync(noticedByFile, "utf8")) as NoticedBy

const seedsFor = (name: string): ReadonlySet<number> => {
  const kept = readNoticedBy()[name] ?? []
  return new Set([...kept, ...Array.from({ length: patience }, (_, n) => n + 1)])
}

/** A run that tells of the fault, for each invariant that should and does. */
export const noticing = ({ name: fault, shows, seams }: Mutation): ReadonlyMap<string, Run> => {
  const runs = new Map<string, Run>()
  for (const seed of seedsFor(fault)) {
    if (shows.every((name) => runs.has(name))) break
    const run = simulate(seed, seams())
    const name = run.finding?.invariant
    if (name !== undefined && !runs.has(name)) runs.set(name, run)
  }
  return runs
}
