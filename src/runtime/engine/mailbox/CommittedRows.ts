/**
 * The listeners of committed rows and of ended venue calls. They run after COMMIT and before the answer. The commit is durable by
 * then, so a listener that fails delays neither the answer nor the other listeners.
 */
import type { TableName, Tables } from "../../tables/Catalogue.ts"
import type { DefectLog } from "../DefectLog.ts"
import type { Commit } from "../journal/Commit.ts"
import { Places } from "./Places.ts"

export type RowListener<T extends TableName> = (row: Tables[T]) => void

/** Receives the ref of a venue call that a commit has ended. */
export type EndListener = (ref: string, commit: Commit) => void

export class CommittedRows {
  private readonly listeners = new Map<TableName, Places<(row: never) => void>>()
  private readonly callEnders = new Places<EndListener>()
  private readonly defects: DefectLog

  constructor(defects: DefectLog) {
    this.defects = defects
  }

  /** Adds a listener for the committed rows of a table. Listeners of a lower `place` run first. */
  listen<T extends TableName>(table: T, listener: RowListener<T>, place: number): void {
    const list = this.listeners.get(table) ?? new Places()
    list.add(listener as (row: never) => void, place)
    this.listeners.set(table, list)
  }

  /** Adds a listener for ended venue calls. It gets the ref of the call and the commit that ended it. */
  listenToEnds(listener: EndListener, place: number): void {
    this.callEnders.add(listener, place)
  }

  /**
   * Calls the listeners of each table of a commit, then those of ended calls: a caller that waits for the end of a call resumes
   * when every projection has the commit's rows. Never throws.
   */
  publish(commit: Commit): void {
    for (const table in commit.rows) {
      const listeners = this.listeners.get(table as TableName)
      if (listeners === undefined) continue
      for (const row of commit.rows[table as TableName] as ReadonlyArray<never>)
        for (const listen of listeners.items) this.deliver(table, listen, row)
    }
    for (const ref of commit.endedCalls) {
      for (const ended of this.callEnders.items) this.deliver("ended calls", (each: string) => ended(each, commit), ref)
    }
  }

  private deliver<Item>(source: string, listen: (item: Item) => void, item: Item): void {
    try {
      listen(item)
    } catch (cause) {
      this.defects(`a listener of committed ${source} failed: the commit stays`, cause)
    }
  }
}
