/**
 * A command that runs only for its answer (operator surface, --dry-run). Every turn of the request decides on the committed state
 * and the changes of the request's earlier turns, and its commit is dropped. The marker belongs to the request's fiber and its
 * child fibers, so that no write on its behalf can happen by mistake.
 */
import { Context, Effect, Fiber } from "effect"
import type { Currency } from "../../../machines/shared/Currency.ts"
import { formatAmount } from "../../../machines/shared/Money.ts"
import { catalogue, type IdKind, type TableName, type Tables } from "../../tables/Catalogue.ts"
import type { PostingRow } from "../../tables/ledger.ts"
import { type Claim, claimNames, type Commit, type SubjectKey } from "../journal/Commit.ts"
import { ClaimLost, type Unavailable } from "./DispatchError.ts"
import type { SubjectState } from "./SubjectState.ts"
import { type Change, changesOf } from "./written.ts"

/** The writes that the commits of a dry run would have made. Names no person: neither rows nor the content of events. */
export interface DryRunSummary {
  /** The number of written rows, by table. */
  readonly rows: Readonly<Record<string, number>>
  readonly events: ReadonlyArray<{
    readonly event: string
    readonly partnerId: number
    readonly clientId: number | null
  }>
  readonly postings: ReadonlyArray<{
    readonly account: string
    readonly clientId: number | null
    readonly currency: string
    readonly kind: string
    readonly amount: string
  }>
}

/** Queries the holders of unique facts. A dry run fails like the command itself if a fact is taken. */
export type Holders = (names: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Claim>, Unavailable>

/** The first id of a dry run. No sequence reaches this value, and numbers above it are still exact. */
const beyondIds = 9_000_000_000_000_000

export class DryRun {
  private readonly states = new Map<SubjectKey, SubjectState>()
  private readonly dropped: Array<Commit> = []
  private readonly given = new Map<IdKind, number>()
  private readonly holders: Holders

  constructor(holders: Holders) {
    this.holders = holders
  }

  /** Ids above those of real objects: the sequences are not used. */
  readonly nextId = (kind: IdKind): number => {
    const id = (this.given.get(kind) ?? beyondIds) + 1
    this.given.set(kind, id)
    return id
  }

  /** The subject as the request's earlier turns would have left it. */
  stateOf(committed: SubjectState): SubjectState {
    return this.states.get(committed.subject) ?? committed
  }

  /** Drops a commit and records its writes; fails like the commit if one of its claims is taken. */
  drop(state: SubjectState | null, commit: Commit): Effect.Effect<void, ClaimLost | Unavailable> {
    const names = claimNames(commit)
    return Effect.flatMap(names.length === 0 ? Effect.succeed([]) : this.holders(names), (claims) => {
      if (claims.length > 0) return Effect.fail(new ClaimLost({ claims }))
      this.dropped.push(commit)
      if (state !== null) this.states.set(state.subject, state.after(commit))
      return Effect.void
    })
  }

  /** The last row of a table that the request would have written; undefined if there is none. */
  last<T extends TableName>(table: T): Tables[T] | undefined {
    return this.dropped.flatMap((commit): ReadonlyArray<Tables[T]> => commit.rows[table] ?? []).at(-1)
  }

  /** The facts that the audit would have received. */
  changes(): ReadonlyArray<Change> {
    return this.dropped.flatMap(changesOf)
  }

  summary(): DryRunSummary {
    const rows: Record<string, number> = {}
    for (const commit of this.dropped) {
      for (const table of Object.keys(commit.rows) as ReadonlyArray<TableName>) {
        const { sqlName } = catalogue[table]
        rows[sqlName] = (rows[sqlName] ?? 0) + (commit.rows[table] as ReadonlyArray<object>).length
      }
    }
    return {
      rows,
      events: this.dropped.flatMap(({ rows: { events = [] } }) =>
        events.map(({ name, partnerId, clientId }) => ({ event: name, partnerId, clientId }))
      ),
      postings: this.dropped.flatMap(({ rows: { postings = [] } }) => postings.map(postingView))
    }
  }
}

const postingView = ({ account, clientId, currency, kind, amount }: PostingRow) => ({
  account,
  clientId,
  currency,
  kind,
  amount: formatAmount(amount, currency as Currency)
})

/** The dry run of a request; null for every other fiber. */
export const CurrentDryRun = Context.Reference<DryRun | null>("brokerage/runtime/engine/CurrentDryRun", {
  defaultValue: () => null
})

/** The dry run of the running fiber. Synchronous, because mailboxes read it on every command. */
export const currentDryRun = (): DryRun | null => Fiber.getCurrent()?.getRef(CurrentDryRun) ?? null
