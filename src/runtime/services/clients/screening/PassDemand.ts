/**
 * Decides whether a pass over stored clients is needed: for entries added since the last pass, or for changed rules of
 * comparison. It follows the committed rows and wakes the worker (F26).
 */
import { Effect, Latch } from "effect"
import { screeningRulesVersion } from "../../../../machines/screening/screen.ts"
import type { Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import type { ScreeningRunRow, WatchEntryRow, WatchImportRow } from "../../../tables/screening.ts"
import { personsAfter } from "../../../store/storedPersons.ts"
import { whenAway } from "../../../store/whenAway.ts"
import { type PassPlan } from "../../screening/passDecisions.ts"
import { subscribe } from "../../../subscriptions.ts"
import type { PassTools } from "./passWalk.ts"

/**
 * The most clients that are screened again because the list changed before their commit. The nightly pass covers
 * further ones.
 */
const lateLimit = 10_000

export class PassDemand {
  readonly wake = Latch.makeUnsafe(true)
  /** The highest id of a committed watch-list entry. */
  last = 0
  /** The highest entry id that requires a pass. The entries of an import count once the import becomes current. */
  private due = 0
  /** Clients whose screening missed an entry that was committed before their own commit. */
  readonly late = new Set<number>()
  /**
   * The position before the first pass. By default all clients count as unscreened. If the database has no client yet,
   * the present list counts as passed.
   */
  private unpassed: { readonly toEntry: number; readonly rules: number | null } = { toEntry: 0, rules: null }
  private readonly tools: PassTools

  private constructor(tools: PassTools) {
    this.tools = tools
  }

  /** Reads the present state of the watch list, and follows the list's changes. */
  static readonly follow = (tools: PassTools): Effect.Effect<PassDemand> =>
    Effect.gen(function* () {
      const demand = new PassDemand(tools)
      const { host, stored } = tools
      subscribe(host, "PassDemand", {
        watchEntries: (row) => demand.#entry(row),
        watchImports: (row) => demand.#import(row),
        screeningRuns: (row) => demand.#run(row),
        screeningPasses: ({ state }) => (state === "RUNNING" ? demand.wake.openUnsafe() : undefined)
      })
      const [newest] = yield* Effect.orDie(stored.page("watchEntries", [], { limit: 1 }))
      demand.last = Math.max(demand.last, newest?.id ?? 0)
      demand.due = demand.last
      return demand
    })

  /** The pass that is needed now, or null. */
  readonly plan: Effect.Effect<PassPlan | null, Unavailable> = Effect.suspend(() => this.#plan())

  readonly #plan = Effect.fnUntraced(function* (this: PassDemand) {
    const { stored, sql, sealing } = this.tools
    const [done] = yield* stored.page("screeningPasses", [{ column: "state", value: "DONE" }], { limit: 1 })
    if (done === undefined && (yield* Effect.catch(personsAfter(sql, sealing, 0, 1), whenAway)).length === 0) {
      this.unpassed = { toEntry: this.due, rules: screeningRulesVersion }
      return null
    }
    const known = done === undefined ? this.unpassed : done.context
    if (known.rules !== screeningRulesVersion) {
      return { trigger: "RULES", scope: "ALL", fromEntry: 0, toEntry: this.last } as const
    }
    if (this.due <= known.toEntry) return null
    return { trigger: "LIST", scope: "CHANGES", fromEntry: known.toEntry, toEntry: this.due } as const
  })

  #entry({ id, importId, removedAt }: WatchEntryRow): void {
    this.last = Math.max(this.last, id)
    if (importId === null && removedAt === null) this.#callFor(this.last)
  }

  #import({ state }: WatchImportRow): void {
    if (state === "DONE") this.#callFor(this.last)
  }

  #callFor(entry: number): void {
    if (entry <= this.due) return
    this.due = entry
    this.wake.openUnsafe()
  }

  #run({ clientId, listVersion, passId }: ScreeningRunRow): void {
    const isLate = passId === null && listVersion < this.tools.screening.lists().listVersion
    if (!isLate || this.late.size >= lateLimit) return
    this.late.add(clientId)
    this.wake.openUnsafe()
  }
}
