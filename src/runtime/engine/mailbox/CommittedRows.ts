/**
 * Who wants to hear of committed rows: live views, timers, webhook signals; and of calls of the venue that ended. Called after COMMIT and before the answer
 * (output gate, architecture section 4). The commit is durable by then, so a listener that fails must not keep its
 * answer or anybody else's news back.
 */
import type { TableName, Tables } from "../../store/Catalogue.ts"
import type { DefectLog } from "../DefectLog.ts"
import type { Commit } from "../journal/Commit.ts"

export type RowListener<T extends TableName> = (row: Tables[T]) => void

/** Hears of a venue call that a commit has ended. */
export type EndListener = (ref: string, commit: Commit) => void

export class CommittedRows {
  private readonly listeners = new Map<TableName, Array<(row: never) => void>>()
  private readonly callEnders: Array<EndListener> = []
  private readonly defects: DefectLog

  constructor(defects: DefectLog) {
    this.defects = defects
  }

  /** Calls `listener` with every row of the table published from now on. */
  listen<T extends TableName>(table: T, listener: RowListener<T>): void {
    const list = this.listeners.get(table) ?? []
    list.push(listener as (row: never) => void)
    this.listeners.set(table, list)
  }

  /** Calls `listener` with the ref of every venue call whose end is published from now on, and the commit of its end. */
  listenToEnds(listener: EndListener): void {
    this.callEnders.push(listener)
  }

  /**
   * Calls the listeners of each table of a committed commit, then of ended calls: whoever is answered with the end of a call
   * finds the answer's row heard of already. Never throws.
   */
  publish(commit: Commit): void {
    for (const table in commit.rows) {
      const listeners = this.listeners.get(table as TableName)
      if (listeners === undefined) continue
      for (const row of commit.rows[table as TableName] as ReadonlyArray<never>)
        for (const listen of listeners) this.hear(table, listen, row)
    }
    for (const ref of commit.endedCalls) {
      for (const ended of this.callEnders) this.hear("ended calls", (each: string) => ended(each, commit), ref)
    }
  }

  private hear<News>(what: string, listen: (news: News) => void, news: News): void {
    try {
      listen(news)
    } catch (cause) {
      this.defects(`a view of ${what} failed`, cause)
    }
  }
}
