/**
 * Locks of other database sessions that commits ran into: rows and tables by name (lockNeeds). A commit that needs
 * one of them is refused at once. To find out whether a lock is still held, the service polls it with a commit that
 * needed it.
 */
import type { Commit } from "../Commit.ts"
import { batchLimit } from "../Journal.ts"
import { isWide, needNames, rowName, writerRow } from "./lockNeeds.ts"

/** The most names remembered. The oldest is evicted, and added again when a commit runs into its lock. */
const limit = 4_096

/** Every commit needs these locks. */
const everybodyNeeds = ["writer", rowName(writerRow), "subjects"]

export class HeldLocks {
  /** For each held name the commits that showed the lock; the name that was polled longest ago comes first. */
  private readonly held = new Map<string, ReadonlyArray<Commit>>()
  private tables = 0

  /** True if a held lock stops every commit. */
  get stopsAll(): boolean {
    return this.tables > 0 && everybodyNeeds.some((name) => this.held.has(name))
  }

  get any(): boolean {
    return this.held.size > 0
  }

  /** The number of held locks, for health and metrics; the writer's row counts as a table. */
  counts(): { readonly rows: number; readonly tables: number } {
    return { rows: this.held.size - this.tables, tables: this.tables }
  }

  /** True if the commit needs a held lock. */
  stops(commit: Commit): boolean {
    return this.held.size > 0 && needNames(commit).some((name) => this.held.has(name))
  }

  /** Adds locks that a search found. Returns the names that are new. */
  add(found: ReadonlyMap<string, ReadonlyArray<Commit>>): ReadonlyArray<string> {
    const fresh: Array<string> = []
    for (const [name, commits] of found) {
      if (!this.delete(name)) fresh.push(name)
      this.held.set(name, commits)
      if (isWide(name)) this.tables++
    }
    for (const name of this.held.keys()) {
      if (this.held.size <= limit) break
      this.delete(name)
    }
    return fresh
  }

  /** Commits that show whether the locks polled longest ago are still held; at most one batch. */
  oldest(): ReadonlyArray<Commit> {
    return [...new Set([...this.held.values()].slice(0, batchLimit).flat())].slice(0, batchLimit)
  }

  /** Removes the locks that only these commits show and that are no longer held. */
  dropShownBy(commits: ReadonlySet<Commit>, held: ReadonlyMap<string, unknown>): void {
    for (const [name, shown] of this.held) {
      if (!held.has(name) && shown.every((commit) => commits.has(commit))) this.delete(name)
    }
  }

  private delete(name: string): boolean {
    const there = this.held.delete(name)
    if (there && isWide(name)) this.tables--
    return there
  }
}
