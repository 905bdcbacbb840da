/**
 * The values that only the writer of a batch can assign: gap-free event numbers per partner and the next seal. The new counters
 * are adopted after COMMIT, so a lost batch leaves no gap and no broken link.
 */
import type { EventRow } from "../../tables/webhook.ts"
import type { SealRow } from "../../tables/engine.ts"
import type { Commit } from "./Commit.ts"
import { inIdOrder, type SealedTable, sealedTableNames, sealGenesis, sealRows } from "../sealing/seal.ts"

export interface Counters {
  /** The last event number per partner; a partner without events is not listed. */
  readonly seqs: ReadonlyMap<number, number>
  readonly seal: SealRow
}

export const noCounters: Counters = { seqs: new Map(), seal: sealGenesis }

/** Numbers events in the order of the calls. */
export class EventNumbers {
  private readonly before: ReadonlyMap<number, number>
  private readonly moved = new Map<number, number>()

  constructor(before: ReadonlyMap<number, number>) {
    this.before = before
  }

  /** Gives the event the next number of its partner. */
  number(event: EventRow): EventRow {
    const { partnerId } = event
    const seq = (this.moved.get(partnerId) ?? this.before.get(partnerId) ?? 0) + 1
    this.moved.set(partnerId, seq)
    return { ...event, seq }
  }

  /** The last number of every partner. */
  after(): ReadonlyMap<number, number> {
    return this.moved.size === 0 ? this.before : new Map([...this.before, ...this.moved])
  }
}

/** Numbers the events of one batch and makes its seal. Returns the counters after it. */
export const stampBatch = (
  commits: ReadonlyArray<Commit>,
  before: Counters
): {
  readonly events: ReadonlyArray<EventRow>
  /** Null if the batch writes no sealed rows. */
  readonly seal: SealRow | null
  readonly counters: Counters
} => {
  const numbers = new EventNumbers(before.seqs)
  const events = commits.flatMap((commit) => (commit.rows.events ?? []).map((event) => numbers.number(event)))
  const rowsOf = (table: SealedTable): ReadonlyArray<object> =>
    commits.flatMap((commit): ReadonlyArray<object> => inIdOrder<object>(table, commit.rows[table] ?? []))
  const seal = sealRows(before.seal, Object.fromEntries(sealedTableNames.map((table) => [table, rowsOf(table)])))
  return { events, seal: seal === before.seal ? null : seal, counters: { seqs: numbers.after(), seal } }
}
