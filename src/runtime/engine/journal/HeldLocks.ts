/**
 * What another database session holds locked, as far as commits ran into it: rows and tables by name (lockNeeds). Who needs
 * one of them is refused at once; whether they are still held is asked again and again, with commits that needed them.
 */
import type { Commit } from "./Commit.ts"
import { batchLimit } from "./Journal.ts"
import { isWide, needNames, rowName, writerRow } from "./lockNeeds.ts"

/** Names remembered; the one that was found first gives way, and is found again when it is needed. */
const limit = 4_096

/** Without these no commit of a mailbox can be written. */
const everybodyNeeds = ["writer", rowName(writerRow), "subjects"]

export class HeldLocks {
  /** Commits that show it, by name; the longest unasked first. */
  private readonly held = new Map<string, ReadonlyArray<Commit>>()
  private tables = 0

  /** Nothing at all can be written. */
  get stopsAll(): boolean {
    return this.tables > 0 && everybodyNeeds.some((name) => this.held.has(name))
  }

  get any(): boolean {
    return this.held.size > 0
  }

  /** How many, for health and metrics; the writer's row counts as a table. */
  counts(): { readonly rows: number; readonly tables: number } {
    return { rows: this.held.size - this.tables, tables: this.tables }
  }

  /** Whether the commit needs something that is held. */
  stops(commit: Commit): boolean {
    return this.held.size > 0 && needNames(commit).some((name) => this.held.has(name))
  }

  /** Takes over what was found; the names that are new. */
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

  /** Commits that show whether what was longest unasked is still held, as many as a batch holds. */
  oldest(): ReadonlyArray<Commit> {
    return [...new Set([...this.held.values()].slice(0, batchLimit).flat())].slice(0, batchLimit)
  }

  /** Forgets what these commits were shown for and is held no more. */
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
