/**
 * The writes of one turn, as plain data: all of them in one database transaction or none. Built by `CommitBuilder`, written by a
 * Journal, adopted into memory only after COMMIT.
 */
import { catalogue, type CommitRows, keyOf, type TableName, type Tables } from "../../tables/Catalogue.ts"

/** A mailbox's address: `client:<id>`, `partner:<id>` or `system`. */
export type SubjectKey = string

/** Compare-and-set of a subject's optimistic lock version (its token). `expected` null: the subject is created by this commit. */
export interface Fence {
  readonly subject: SubjectKey
  readonly expected: number | null
}

/** The partner configuration this commit was decided under; `raise` when the commit itself changes it. */
export interface PartnerStamp {
  readonly partnerId: number
  readonly epoch: number
}

/** A unique fact (`email:…`, `ref:<partnerId>:…`, `collateral:<partnerId>:…`) and the id of the object that holds it. */
export interface Claim {
  readonly name: string
  readonly owner: number
}

/**
 * A timer of a subject that a commit removes. With `dueAt` the timer is removed only if it is still due at that time, so that a
 * firing never removes a timer that has been set again.
 */
export interface ClearedTimer {
  readonly subject: SubjectKey
  readonly name: string
  readonly dueAt?: number
}

export interface Commit {
  readonly fence: Fence | null
  readonly partner: PartnerStamp | null
  readonly claims: ReadonlyArray<Claim>
  /** Claims that the commit releases, so that the facts are free again. */
  readonly releases: ReadonlyArray<string>
  readonly rows: CommitRows
  readonly clearedTimers: ReadonlyArray<ClearedTimer>
  /** Refs of the venue calls that end with this commit: no call is in flight under them any more. */
  readonly endedCalls: ReadonlyArray<string>
  /** Idempotency-Keys that must have no stored answer yet: the commit begins a request whose answer a later one stores. */
  readonly freshKeys?: ReadonlyArray<AnswerKey>
}

/** The principal and the Idempotency-Key of a stored answer. */
export type AnswerKey = Pick<Tables["answers"], "principal" | "key">

const none: ReadonlyArray<never> = []

const answerPrefix = "answer:"

/** The name under which a stored answer counts as a claim: the first answer of a key wins. */
export const answerClaim = (principal: string, key: string): string => `${answerPrefix}${principal}:${key}`

/** True for the claim that stands for a stored answer; false for any other unique fact. */
export const isAnswerClaim = (name: string): boolean => name.startsWith(answerPrefix)

/** The keys that must not have an answer yet: those that the commit answers, and those of the requests that it begins. */
export const answerKeys = ({ rows: { answers = none }, freshKeys }: Commit): ReadonlyArray<AnswerKey> =>
  freshKeys === undefined ? answers : [...answers, ...freshKeys]

/** Every unique fact that a commit needs: its claims, and its keys without an answer. */
export const claimNames = (commit: Commit): ReadonlyArray<string> => [
  ...commit.claims.map((claim) => claim.name),
  ...answerKeys(commit).map(({ principal, key }) => answerClaim(principal, key))
]

/** The rows that the commit writes, claims or removes, at least one: the measure of a batch and of a flush. */
export const rowsOf = (commit: Commit): number => {
  const { claims, releases, rows, clearedTimers, endedCalls, freshKeys = [] } = commit
  let count = claims.length + releases.length + clearedTimers.length + endedCalls.length + freshKeys.length
  for (const table in rows) count += rows[table as TableName]?.length ?? 0
  return Math.max(1, count)
}

/** The most rows and claims of one commit: a turn with more is a defect. */
export const maxCommitRows = 4_096

/** Up to this many rows of a table, a linear search is faster than a map. */
const fewRows = 8

/** True if two rows of a table have the same key. Compares without building the keys of `keyOf`. */
const sameKey = (table: TableName, one: object, other: object): boolean =>
  catalogue[table].key.every(
    (name) => (one as Record<string, unknown>)[name] === (other as Record<string, unknown>)[name]
  )

/** The rows of one table in the order of their first put; each key occurs once. */
class TableRows {
  private readonly table: TableName
  readonly list: Array<object> = []
  /** The index of each row by its key; built only once there are many rows. */
  private places: Map<string, number> | null = null

  constructor(table: TableName) {
    this.table = table
  }

  put(row: object): void {
    const { list, table } = this
    if (this.places === null && list.length < fewRows) {
      for (let at = 0; at < list.length; at++) {
        if (sameKey(table, list[at] as object, row)) return void (list[at] = row)
      }
      return void list.push(row)
    }
    this.places ??= new Map(list.map((each, at) => [keyOf(table, each), at]))
    const key = keyOf(table, row)
    const at = this.places.get(key)
    if (at !== undefined) return void (list[at] = row)
    this.places.set(key, list.push(row) - 1)
  }

  get(key: string): object | undefined {
    const { list, table, places } = this
    if (places === null) return list.find((row) => keyOf(table, row) === key)
    const at = places.get(key)
    return at === undefined ? undefined : list[at]
  }

  delete(key: string): void {
    const at = this.list.findIndex((row) => keyOf(this.table, row) === key)
    if (at !== -1) this.list.splice(at, 1)
    this.places = null
  }
}

export class CommitBuilder {
  private readonly tables = new Map<TableName, TableRows>()
  private readonly claimList: Array<Claim> = []
  private readonly releaseList: Array<string> = []
  private readonly cleared: Array<ClearedTimer> = []
  private readonly ended: Array<string> = []
  private readonly fresh: Array<AnswerKey> = []
  private size = 0
  private eventSlots = 0
  private restsOn: PartnerStamp | null = null

  /** Adds a row, or replaces the one with the same key added earlier in this turn. */
  put<T extends TableName>(table: T, row: Tables[T]): void {
    let rows = this.tables.get(table)
    if (rows === undefined) this.tables.set(table, (rows = new TableRows(table)))
    rows.put(row)
    if (++this.size > maxCommitRows) throw new RangeError(`a commit holds at most ${maxCommitRows} rows`)
  }

  /** The row that an earlier step of this turn put, if any. */
  peek<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    return this.tables.get(table)?.get(key) as Tables[T] | undefined
  }

  /** The rows of a table that earlier steps of this turn put, in that order. */
  written<T extends TableName>(table: T): ReadonlyArray<Tables[T]> {
    const list: ReadonlyArray<unknown> = this.tables.get(table)?.list ?? none
    return list as ReadonlyArray<Tables[T]>
  }

  /** The temporary number of an event of this turn, until the journal numbers it. Events keep their order within the turn. */
  nextEventSlot(): number {
    return ++this.eventSlots
  }

  claim(name: string, owner: number): void {
    this.claimList.push({ name, owner })
  }

  release(name: string): void {
    this.releaseList.push(name)
  }

  /** Makes the commit fail like one that lost a claim if this Idempotency-Key already has an answer. */
  beginKey({ principal, key }: AnswerKey): void {
    this.fresh.push({ principal, key })
  }

  /** Removes a timer, also one that was set earlier in this turn. */
  clearTimer(subject: SubjectKey, name: string): void {
    this.tables.get("timers")?.delete(keyOf("timers", { subject, name }))
    this.cleared.push({ subject, name })
  }

  /** Removes the timer that fired. If it has been set again since, it stays. */
  clearFired(timer: Tables["timers"]): void {
    this.cleared.push({ subject: timer.subject, name: timer.name, dueAt: timer.dueAt })
  }

  /** Removes the row of a venue call whose result is in this commit. */
  endCall(ref: string): void {
    this.ended.push(ref)
  }

  /** True if the call ends with this commit. */
  ends(ref: string): boolean {
    return this.ended.includes(ref)
  }

  /**
   * Makes the decision depend on a partner: the commit is refused if the partner has changed since. The stamp of a command has
   * the same effect.
   */
  restOn(partner: PartnerStamp): void {
    this.restsOn = partner
  }

  /** The rows and facts so far; a row that was put twice counts twice. */
  get rowCount(): number {
    const { size, claimList, releaseList, cleared, ended, fresh } = this
    return size + claimList.length + releaseList.length + cleared.length + ended.length + fresh.length
  }

  get isEmpty(): boolean {
    return this.rowCount === 0
  }

  build(fence: Fence | null, partner: PartnerStamp | null): Commit {
    const rows: { [table: string]: ReadonlyArray<object> } = {}
    for (const [table, { list }] of this.tables) if (list.length > 0) rows[table] = list
    return {
      fence,
      partner: partner ?? (fence === null ? null : this.restsOn),
      claims: this.claimList,
      releases: this.releaseList,
      rows: rows as CommitRows,
      clearedTimers: this.cleared,
      endedCalls: this.ended,
      ...(this.fresh.length === 0 ? {} : { freshKeys: this.fresh })
    }
  }
}
