/**
 * Trading halts of this service: operators begin, change and end them, or they end at a set time. Every reader sees a
 * change at once. The halts in force are a projection that only committed rows change (A2-11).
 */
import { Context, Effect, Layer } from "effect"
import { fullSymbol } from "../../../machines/market/fullSymbol.ts"
import {
  haltFamilies,
  haltTimer,
  type TradingHaltContext,
  type TradingHaltState
} from "../../../machines/market/TradingHalt.ts"
import { accept, conflict, invalidFields, refuse, type Verdict } from "../../../machines/shared/Refusal.ts"
import { cleanText } from "../../../machines/shared/Text.ts"
import { advance, start } from "../../effects/advance.ts"
import { ActorHost, type DispatchError, type Turn } from "../../engine/mailbox/ActorHost.ts"
import type { TimerHandler } from "../../engine/timers/Timers.ts"
import { type MarketPrices, ListedMarkets } from "../../ports/ListedMarkets.ts"
import { RowReads } from "../../ports/RowReads.ts"
import { subscribe } from "../../subscriptions.ts"
import type { TradingHaltRow } from "../../tables/market.ts"
import { type OperatorCaller, systemSubject } from "../shared/OperatorCaller.ts"
import { clockEnd } from "../shared/clockEnd.ts"

/** A halt as the operator sees it: its terms and whether it is in force. */
export interface HaltView extends TradingHaltContext {
  readonly status: TradingHaltState
}

export interface HaltBody {
  /** The scope of the halt: ALL, a family, or a listed symbol, which may be short (BTC-PERP). */
  readonly scope: string
  readonly message: string
  /** The end of the halt, Unix ms, in the future; null: it lasts until an operator resumes trading. */
  readonly until: number | null
}

/** A halt in force as partners see it (GET /trading-status). */
export type ActiveHalt = Pick<TradingHaltContext, "scope" | "since" | "until" | "message">

/** A listed market with its prices, and whether this service or the venue halts its trading. */
export interface MarketRow extends MarketPrices {
  /** True while a halt of this service covers the market. */
  readonly haltedByUs: boolean
}

export interface MarketListing {
  readonly markets: ReadonlyArray<MarketRow>
  readonly halts: ReadonlyArray<ActiveHalt>
}

export class MarketHalts extends Context.Service<
  MarketHalts,
  {
    /** The halts in force now, oldest first. */
    readonly active: () => ReadonlyArray<ActiveHalt>
    /** Every listed market. Empty until the venue has sent a listing. */
    readonly list: () => MarketListing
    /** Begins a halt. If the scope already has a halt, changes its message and end. */
    halt(caller: OperatorCaller, request: HaltBody): Effect.Effect<Verdict<HaltView>, DispatchError>
    resume(caller: OperatorCaller, scope: string): Effect.Effect<Verdict<HaltView>, DispatchError>
  }
>()("brokerage/runtime/services/market/MarketHalts") {
  static readonly layer = Layer.effect(
    MarketHalts,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const listed = yield* ListedMarkets
      const running = new Map<number, TradingHaltRow>()
      const follow = (row: TradingHaltRow): void =>
        row.state === "ACTIVE" ? void running.set(row.id, row) : void running.delete(row.id)
      for (const row of yield* Effect.orDie((yield* RowReads).all("tradingHalts"))) follow(row)
      subscribe(host, "MarketHalts", { tradingHalts: follow })

      const active = (): ReadonlyArray<ActiveHalt> =>
        [...running.values()].toSorted((one, other) => one.id - other.id).map(({ context }) => shown(context))

      return MarketHalts.of({
        active,
        list: () => {
          const halts = active()
          const markets = (listed.all() ?? []).map((market) => ({
            ...market,
            haltedByUs: halts.some(({ scope }) => covers(scope, market))
          }))
          return { markets, halts }
        },
        halt: (caller, given) => {
          const request = { ...given, scope: fullSymbol(given.scope) }
          const fault = scopeFault(request.scope, listed.all())
          if (fault !== null) return Effect.succeed(refuse(invalidFields({ scope: fault })))
          return host.dispatch({
            subject: systemSubject,
            by: caller.by,
            decide: (turn) => haltScope(turn, { ...request, message: cleanText(request.message) })
          })
        },
        resume: (caller, scope) =>
          host.dispatch({
            subject: systemSubject,
            by: caller.by,
            decide: (turn) => resumeScope(turn, fullSymbol(scope))
          })
      })
    })
  )
}

/** The handler of the timer that ends a halt at its end time; a halt that has ended before is ignored. */
export const haltHandlers: Readonly<Record<typeof haltTimer, TimerHandler>> = {
  [haltTimer]: (turn, _dueAt, id) => {
    const row = turn.state.get("tradingHalts", String(id))
    if (row !== undefined) advance(turn, "tradingHalts", row, { type: "ELAPSE", at: turn.now })
  }
}

const shown = ({ scope, since, until, message }: TradingHaltContext): ActiveHalt => ({ scope, since, until, message })

const covers = (scope: string, { symbol, family }: MarketPrices): boolean =>
  scope === "ALL" || scope === family || scope === symbol

const families: ReadonlyArray<string> = haltFamilies
const forms = `ALL, a family (${families.join(", ")}) or the symbol of a listed market`

/** A sentence that refuses a text as the scope of a halt; null if it is a valid scope. */
const scopeFault = (scope: string, markets: ReadonlyArray<MarketPrices> | null): string | null => {
  if (scope === "ALL" || families.includes(scope)) return null
  if (markets === null) {
    return `No list of markets has come from a venue: it must be ALL or a family (${families.join(", ")}).`
  }
  return markets.some(({ symbol }) => symbol === scope) ? null : `It must be ${forms}.`
}

const viewOf = (row: TradingHaltRow): HaltView => ({ ...row.context, status: row.state })

/** The halt in force for exactly this scope; undefined if there is none. The system's mailbox holds no ended halts. */
const haltOf = (turn: Turn, scope: string): TradingHaltRow | undefined =>
  turn.state.all("tradingHalts").find((row) => row.scope === scope)

const haltScope = (turn: Turn, { scope, message, until }: HaltBody): Verdict<HaltView> => {
  if (until !== null && until <= turn.now) return refuse(invalidFields({ until: "It must be ahead of now, Unix ms." }))
  if (until !== null && until >= clockEnd) return refuse(invalidFields({ until: "It must be before the year 2100." }))
  const found = haltOf(turn, scope)
  if (found !== undefined) {
    const changed = advance(turn, "tradingHalts", found, { type: "CHANGE", at: turn.now, message, until })
    if (changed === null) throw new Error(`halt ${found.id} takes no change`)
    return accept(viewOf(changed))
  }
  const id = turn.nextId("tradingHalt")
  const row = start(turn, "tradingHalts", {
    input: { haltId: id, scope, message, since: turn.now, until },
    columns: { id, scope, startedAt: turn.now }
  })
  return accept(viewOf(row))
}

const resumeScope = (turn: Turn, scope: string): Verdict<HaltView> => {
  const found = haltOf(turn, scope)
  const next = found === undefined ? null : advance(turn, "tradingHalts", found, { type: "RESUME", at: turn.now })
  if (next !== null) return accept(viewOf(next))
  const others = turn.state.all("tradingHalts").map((row) => row.scope)
  return refuse(
    conflict(
      "NO_HALT",
      others.length === 0
        ? `${scope} has no halt of ours; none is running.`
        : `${scope} has no halt of ours. Running: ${others.join(", ")}.`
    )
  )
}
