/**
 * The stand-in for the database behind JournalMemory: tables, commit tokens, claims, writer epoch and id counters.
 * Several journals may share one store, as several processes share one database.
 */
import { catalogue, type IdKind, keyOf, type TableName, type Tables } from "../../tables/Catalogue.ts"
import type { TableSpec } from "../../tables/Table.ts"
import { triggers } from "../../tables/triggers.ts"
import { answerClaim, answerKeys, type Claim, type ClearedTimer, type Commit, type SubjectKey } from "./Commit.ts"
import { idBlockSize, type UnusedIds } from "./IdBlocks.ts"
import type { Outcome, SubjectImage } from "./Journal.ts"
import { decodeStored, encodeRow, missingColumn, RefusedData, type StoredRow } from "./memoryRow.ts"
import { type Counters, noCounters, stampBatch } from "./stamp.ts"

interface Write {
  readonly table: TableName
  readonly key: string
  readonly stored: StoredRow
}

export class MemoryStore {
  /** The current epoch of the writer row. */
  epoch = 0
  owner = "nobody"
  private takenFrom: () => void = () => {}
  private counters: Counters = noCounters
  private readonly tokens = new Map<SubjectKey, number>()
  private readonly claims = new Map<string, number>()
  private readonly tables = new Map<TableName, Map<string, StoredRow>>()
  private readonly residents = new Map<SubjectKey, Map<string, Write>>()
  private readonly uniques = new Map<string, string>()
  private readonly sequences = new Map<IdKind, number>()

  /** Makes `owner` the only writer and notifies the previous owner through its `replaced`. Returns the new epoch. */
  takeOver(owner: string, replaced: () => void): number {
    this.takenFrom()
    this.takenFrom = replaced
    this.owner = owner
    return ++this.epoch
  }

  /** The first id of a fresh block; blocks are as long as in the database, so that gaps are the same. */
  reserveIds(kind: IdKind): number {
    const first = this.sequences.get(kind) ?? 1
    this.sequences.set(kind, first + idBlockSize(kind))
    return first
  }

  /** Sets the counters that stand at the newest block of `owner` back to its first unused ids, if it is still the writer. */
  returnIds(owner: string, unused: ReadonlyArray<UnusedIds>): void {
    if (this.owner !== owner) return
    for (const { kind, last, next } of unused)
      if (this.sequences.get(kind) === last + idBlockSize(kind)) this.sequences.set(kind, next)
  }

  /** Every row of a table, in the order of first insertion. */
  rows<T extends TableName>(table: T): ReadonlyArray<Tables[T]> {
    return [...(this.tables.get(table)?.values() ?? [])].map((stored) => decodeStored(table, stored))
  }

  /** The id of the object that holds a unique fact; undefined for a free fact. */
  ownerOf(name: string): number | undefined {
    return this.claims.get(name)
  }

  image(subject: SubjectKey): SubjectImage {
    const token = this.tokens.get(subject) ?? null
    if (token === null) return { token, rows: [] }
    const rows: Array<{ readonly table: TableName; readonly row: object }> = []
    for (const { table, stored } of this.residents.get(subject)?.values() ?? []) {
      const only = catalogue[table].residence?.only
      const row = decodeStored(table, stored)
      if (only === undefined || only.test(row as never)) rows.push({ table, row })
    }
    return { token, rows } as SubjectImage
  }

  /** Writes a commit as a whole, or writes nothing and returns the reason. */
  apply(commit: Commit): Outcome {
    let stamped: ReturnType<typeof stampBatch>
    let writes: ReadonlyArray<Write>
    try {
      stamped = stampBatch([commit], this.counters)
      writes = encode({
        ...commit.rows,
        events: stamped.events,
        ...(stamped.seal === null ? {} : { seals: [...(commit.rows.seals ?? []), stamped.seal] })
      })
      const refusal = this.guard(commit)
      if (refusal !== null) return refusal
      for (const write of writes) this.checkRow(write)
      checkDistinct(writes)
      checkUniqueInside(writes)
      checkBalance(commit)
    } catch (cause) {
      return { _tag: "Rejected", cause }
    }
    this.counters = stamped.counters
    this.put(commit, writes)
    return { _tag: "Committed" }
  }

  /** Checks fence, partner and claims, in the order in which the database journal names culprits. Null: all of them hold. */
  private guard(commit: Commit): Outcome | null {
    const { fence, partner } = commit
    if (fence !== null && (this.tokens.get(fence.subject) ?? null) !== fence.expected) return { _tag: "Fenced" }
    if (partner !== null) {
      const row = this.tables.get("partners")?.get(keyOf("partners", { id: partner.partnerId }))
      if (row?.epoch !== partner.epoch) return { _tag: "PartnerMoved" }
    }
    const lost: Array<Claim> = []
    for (const { name } of commit.claims) {
      const owner = this.claims.get(name)
      if (owner !== undefined) lost.push({ name, owner })
    }
    for (const named of answerKeys(commit)) {
      if (this.tables.get("answers")?.has(keyOf("answers", named)) === true)
        lost.push({ name: answerClaim(named.principal, named.key), owner: 0 })
    }
    if (lost.length > 0) return { _tag: "ClaimLost", claims: lost }
    if (new Set(commit.claims.map((claim) => claim.name)).size < commit.claims.length)
      throw new RefusedData("a fact is claimed twice in one commit")
    return null
  }

  private checkRow({ table, key, stored }: Write): void {
    const missing = missingColumn(table, stored)
    if (missing !== undefined) throw new RefusedData(`${table}.${missing} is missing`)
    if (catalogue[table].check?.(stored as never) === false)
      throw new RefusedData(`a row of ${table} is outside its checks`)
    const present = this.tables.get(table)?.has(key) === true
    if (present && catalogue[table].mode === "insert") throw new RefusedData(`a row of ${table} is there already`)
    for (const fact of uniqueFacts(table, stored)) {
      const holder = this.uniques.get(fact)
      if (holder !== undefined && holder !== key) throw new RefusedData(`a unique key of ${table} is taken`)
    }
  }

  private put(commit: Commit, writes: ReadonlyArray<Write>): void {
    if (commit.fence !== null) this.tokens.set(commit.fence.subject, (commit.fence.expected ?? 0) + 1)
    for (const name of commit.releases) this.claims.delete(name)
    for (const { name, owner } of commit.claims) this.claims.set(name, owner)
    for (const timer of commit.clearedTimers) this.clearTimer(timer)
    for (const ref of commit.endedCalls) this.endCall(ref)
    const before = writes.map(({ table, key }) => this.tables.get(table)?.get(key))
    for (const write of writes) this.putRow(write)
    for (const [index, write] of writes.entries()) this.fire(write, before[index])
  }

  /**
   * Applies the writes of a table's AFTER trigger. Runs after all rows of the commit are written, because the triggers of
   * Postgres see all of them too.
   */
  private fire({ table, stored }: Write, before: StoredRow | undefined): void {
    const trigger = triggers[table]
    if (trigger === undefined || before === undefined) return
    const changed = trigger(decodeStored(table, before) as never, decodeStored(table, stored) as never, this)
    for (const write of encode(changed)) this.putRow(write)
  }

  private clearTimer(timer: ClearedTimer): void {
    const key = keyOf("timers", timer)
    const timers = this.tables.get("timers")
    const stored = timers?.get(key)
    if (stored === undefined) return
    if (timer.dueAt === undefined || decodeStored("timers", stored).dueAt === timer.dueAt) timers?.delete(key)
  }

  private endCall(ref: string): void {
    const key = keyOf("venueCalls", { ref })
    const calls = this.tables.get("venueCalls")
    const stored = calls?.get(key)
    if (stored === undefined) return
    calls?.delete(key)
    this.residents.get(subjectOf("venueCalls", stored) as SubjectKey)?.delete(residentKey("venueCalls", key))
  }

  private putRow(write: Write): void {
    const { table, key, stored } = write
    let rows = this.tables.get(table)
    if (rows === undefined) this.tables.set(table, (rows = new Map()))
    const before = rows.get(key)
    if (before !== undefined) for (const fact of uniqueFacts(table, before)) this.uniques.delete(fact)
    rows.set(key, stored)
    for (const fact of uniqueFacts(table, stored)) this.uniques.set(fact, key)
    const subject = subjectOf(table, stored)
    if (subject === null) return
    let held = this.residents.get(subject)
    if (held === undefined) this.residents.set(subject, (held = new Map()))
    held.set(residentKey(table, key), write)
  }
}

/** The subject that holds a row; null if the row belongs to no subject. */
const subjectOf = (table: TableName, stored: StoredRow): SubjectKey | null => {
  const { residence } = catalogue[table]
  if (residence === null) return null
  return residence.column === null ? residence.subject : `${residence.subject}:${String(stored[residence.column])}`
}

const residentKey = (table: TableName, key: string): string => `${table}\u0000${key}`

const encode = (rows: Commit["rows"]): ReadonlyArray<Write> =>
  Object.entries(rows).flatMap(([name, list]) => {
    const table = name as TableName
    return (list as ReadonlyArray<object>).map((row) => ({
      table,
      key: keyOf(table, row),
      stored: encodeRow(table, row)
    }))
  })

const uniqueFacts = (table: TableName, stored: StoredRow): ReadonlyArray<string> =>
  catalogue[table].unique.map((columns) =>
    [table, ...columns, ...columns.map((column) => String(stored[column]))].join("\u0000")
  )

const checkDistinct = (writes: ReadonlyArray<Write>): void => {
  const seen = new Set<string>()
  for (const { table, key } of writes) {
    const place = `${(catalogue[table] as TableSpec).sqlName}\u0000${key}`
    if (seen.has(place)) throw new RefusedData(`a row of ${table} is written twice in one commit`)
    seen.add(place)
  }
}

const checkUniqueInside = (writes: ReadonlyArray<Write>): void => {
  const seen = new Set<string>()
  for (const { table, stored } of writes)
    for (const fact of uniqueFacts(table, stored)) {
      if (seen.has(fact)) throw new RefusedData(`a unique key of ${table} is given twice in one commit`)
      seen.add(fact)
    }
}

/** Checks double entry: the postings of each transaction sum to zero per currency (doc 3, ledger). */
const checkBalance = (commit: Commit): void => {
  const sums = new Map<string, bigint>()
  for (const { txId, currency, amount } of commit.rows.postings ?? []) {
    const key = `${txId} ${currency}`
    sums.set(key, (sums.get(key) ?? 0n) + amount)
  }
  for (const sum of sums.values()) if (sum !== 0n) throw new RefusedData("a ledger transaction does not balance")
}
