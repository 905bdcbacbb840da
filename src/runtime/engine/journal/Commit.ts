/**
 * What one turn wants written, as plain data: all of it in one database transaction or nothing.
 * Built by `CommitBuilder`, written by a Journal, adopted into memory only after COMMIT.
 */
import { catalogue, type CommitRows, keyOf, type TableName, type Tables } from "../../tables/Catalogue.ts"

/** A mailbox's address: `client:<id>`, `partner:<id>` or `system`. */
export type SubjectKey = string

/** Compare-and-set of a subject's commit token. `expected` null: the subject is created by this commit. */
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
 * A timer of a subject that a commit removes. With `dueAt` only while it still is due then: a firing removes what fired,
 * and never the same timer set again meanwhile.
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
  /** Claims given back, so that the fact is free again. */
  readonly releases: ReadonlyArray<string>
  readonly rows: CommitRows
  /** Timers removed by this commit. */
  readonly clearedTimers: ReadonlyArray<ClearedTimer>
  /** Refs of the venue calls that end with this commit: nothing is in flight under them any more. */
  readonly endedCalls: ReadonlyArray<string>
  /** Idempotency-Keys that must have no stored answer yet: the commit begins a request whose answer a later one stores. */
  readonly freshKeys?: ReadonlyArray<AnswerKey>
}

/** What a stored answer is found by. */
export type AnswerKey = Pick<Tables["answers"], "principal" | "key">

const none: ReadonlyArray<never> = []

const answerPrefix = "answer:"

/** The name under which a stored answer counts as a claim: the first one for a key wins. */
export const answerClaim = (principal: string, key: string): string => `${answerPrefix}${principal}:${key}`

/** Whether a claim is that of a stored answer. */
export const isAnswerClaim = (name: string): boolean => name.startsWith(answerPrefix)

/** The keys that a commit needs to be without an answer: those that it answers, and those that it begins a request of. */
export const answerKeys = ({ rows: { answers = none }, freshKeys }: Commit): ReadonlyArray<AnswerKey> =>
  freshKeys === undefined ? answers : [...answers, ...freshKeys]

/** Every unique fact a commit needs: its claims, and that its keys have no answer. */
export const claimNames = (commit: Commit): ReadonlyArray<string> => [
  ...commit.claims.map((claim) => claim.name),
  ...answerKeys(commit).map(({ principal, key }) => answerClaim(principal, key))
]

/** Rows that the commit writes, claims or takes away, at least one: what a batch and a flush are measured in. */
export const rowsOf = (commit: Commit): number => {
  const { claims, releases, rows, clearedTimers, endedCalls, freshKeys = [] } = commit
  let count = claims.length + releases.length + clearedTimers.length + endedCalls.length + freshKeys.length
  for (const table in rows) count += rows[table as TableName]?.length ?? 0
  return Math.max(1, count)
}

/** At most this many rows and claims in one commit: a turn that wants more is a defect. */
export const maxCommitRows = 4_096

/** Up to here looking through the rows of a table beats a map of them. */
const fewRows = 8

/** Whether two rows of a table are the same one: what `keyOf` says, without making the keys. */
const sameKey = (table: TableName, one: object, other: object): boolean =>
  catalogue[table].key.every(
    (name) => (one as Record<string, unknown>)[name] === (other as Record<string, unknown>)[name]
  )

/** Rows of one table in the order of their first put, each key once. */
class TableRows {
  private readonly table: TableName
  readonly list: Array<object> = []
  /** Places by key, once there are many rows. */
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

  /** The row put earlier in this turn, if any: later steps of one turn see the earlier ones. */
  peek<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    return this.tables.get(table)?.get(key) as Tables[T] | undefined
  }

  /** The rows of a table put earlier in this turn, in that order. */
  written<T extends TableName>(table: T): ReadonlyArray<Tables[T]> {
    const list: ReadonlyArray<unknown> = this.tables.get(table)?.list ?? none
    return list as ReadonlyArray<Tables[T]>
  }

  /** Keeps events of one turn apart until the journal numbers them; their order in the turn is their order for ever. */
  nextEventSlot(): number {
    return ++this.eventSlots
  }

  claim(name: string, owner: number): void {
    this.claimList.push({ name, owner })
  }

  release(name: string): void {
    this.releaseList.push(name)
  }

  /** The commit is refused as one that lost a claim where this Idempotency-Key has an answer. */
  beginKey({ principal, key }: AnswerKey): void {
    this.fresh.push({ principal, key })
  }

  /** Removes a timer, one set earlier in this turn too. */
  clearTimer(subject: SubjectKey, name: string): void {
    this.tables.get("timers")?.delete(keyOf("timers", { subject, name }))
    this.cleared.push({ subject, name })
  }

  /** Removes the timer that fired; set again meanwhile, it stays. */
  clearFired(timer: Tables["timers"]): void {
    this.cleared.push({ subject: timer.subject, name: timer.name, dueAt: timer.dueAt })
  }

  /** Removes the row of a venue call: what became of it is in this commit. */
  endCall(ref: string): void {
    this.ended.push(ref)
  }

  /** Whether the call ends with this commit already. */
  ends(ref: string): boolean {
    return this.ended.includes(ref)
  }

  /** The decision rests on a partner: the commit is refused once it has moved, as one that is stamped by its command. */
  restOn(partner: PartnerStamp): void {
    this.restsOn = partner
  }

  /** Rows and facts so far; a row that was put again counts again. */
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
