/**
 * Judges the accounts that marks affect, each in its own turn, and publishes loss notices. An account becomes due when
 * a mark passes the end of its range (RiskWatch). The lowest ratio of equity to margin goes first. These turns use the
 * internal lane, so requests of callers go first.
 *
 * A check each second covers three more kinds of account:
 * - accounts in a close-out, whose conditions may change without a commit;
 * - accounts with a margin call and no holdings but contracts, which the index does not hold;
 * - accounts whose turn changed nothing, because a mark lies on a threshold or is stale (A2-89, D23, F3, F9).
 */
import { Effect, Layer } from "effect"
import { isGoingOn } from "../../../machines/margin/CloseOut.ts"
import type { AccountRisk } from "../../../machines/margin/accountRisk.ts"
import { closeOutPct } from "../../../machines/margin/perpetual.ts"
import type { Facts } from "../../../machines/market/Facts.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { ActorHost, type Attribution, type Turn } from "../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import { enforce, subscribe } from "../../subscriptions.ts"
import { accountIn, recordedIn } from "../account/accountNow.ts"
import { clientSubject, instanceOf } from "../account/clientState.ts"
import { orderMarkets } from "../trading/order/orderMarkets.ts"
import { Directory } from "../partners/Directory.ts"
import { partnerOfTurn } from "../partners/partnerOfTurn.ts"
import { VenueCalls } from "../venue/VenueCalls.ts"
import { lossesToNotify, notifyLosses } from "./lossNotices.ts"
import { judgeRisk, type RiskParts, stateToRecord } from "./riskDecisions.ts"
import { RiskStates } from "../account/RiskStates.ts"
import type { DueAccount } from "./RiskIndex.ts"
import { RiskWatch } from "./RiskWatch.ts"

/**
 * The interval of the check for changes without a mark or commit. An account that a mark moves out of its range is judged without
 * this wait.
 */
const checkEvery = "1 second"
/** Accounts that are processed concurrently. */
const atOnce = 24
/** The most accounts of one pass. The next pass chooses the worst accounts again. */
const inOneGo = 96

const by: Attribution = { role: "SYSTEM", keyLabel: "risk", requestId: "risk", actor: "system:risk" }

interface MonitorParts extends RiskParts {
  readonly host: ActorHost["Service"]
  readonly clock: BusinessClock["Service"]
  readonly states: RiskStates["Service"]
  readonly watch: RiskWatch["Service"]
  readonly calls: VenueCalls["Service"]
}

export const layerRiskMonitor = Layer.effectDiscard(
  Effect.gen(function* () {
    const market = { directory: yield* Directory, markets: yield* orderMarkets, clock: yield* BusinessClock }
    const parts = { ...market, host: yield* ActorHost, states: yield* RiskStates, watch: yield* RiskWatch }
    const monitor = new Monitor({ ...parts, calls: yield* VenueCalls })
    yield* parts.watch.begin
    yield* Effect.forkScoped(monitor.follow)
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(checkEvery), monitor.sweep)))
  })
)

/** Registers the judgement of risk at the end of every turn. A layer of its own, so that it exists before the first decision. */
export const layerRiskJudgement = Layer.effectDiscard(
  Effect.gen(function* () {
    const parts = { directory: yield* Directory, markets: yield* orderMarkets }
    enforce(yield* ActorHost, "RiskMonitor", (turn) => judgeRisk(turn, parts))
  })
)

/** Below this level an account may need a close-out. The margin of 1 percentage point covers floating-point error. */
const closeOutLevel = (closeOutPct + 1) / 100

const mayCloseBelow = ({ clientId, level }: DueAccount): Judged => ({ clientId, mayClose: level < closeOutLevel })

const notJudged = "the risk of an account could not be judged; it is judged again in a second"

/** Logs the fault of a pass, and waits before the next pass. */
const guarded = (pass: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.catchCause(pass, (cause) =>
    Effect.andThen(
      Effect.logError("the risk monitor's pass over the accounts failed; the next one follows in a second", cause),
      Effect.sleep(checkEvery)
    )
  )

class Monitor {
  private readonly parts: MonitorParts
  /** Due accounts whose turn changed nothing. */
  private readonly restless = new Set<number>()
  /** Accounts in a close-out with a commit since the last check. */
  private readonly moved = new Set<number>()
  /** Accounts whose close-out on stale marks is logged. */
  private readonly loggedStale = new Set<number>()

  constructor(parts: MonitorParts) {
    this.parts = parts
    const { host, states } = parts
    const move = ({ clientId }: { readonly clientId: number }): void => {
      if (states.of(clientId) === "CLOSE_OUT") this.moved.add(clientId)
    }
    subscribe(host, "RiskMonitor", { orders: move, closeOuts: move })
  }

  /** Judges due accounts, then waits for marks and commits. A failed pass does not end the loop. */
  readonly follow: Effect.Effect<never> = Effect.suspend(() => this.parts.watch.wake.await).pipe(
    Effect.andThen(
      guarded(
        Effect.suspend(() => {
          const { watch } = this.parts
          watch.wake.closeUnsafe()
          return Effect.andThen(
            watch.catchUp,
            Effect.suspend(() => {
              const lacking = watch.takeLacking().map((clientId) => ({ clientId, mayClose: false }))
              return this.judgeAll([...watch.index.takeDue(inOneGo).map(mayCloseBelow), ...lacking])
            })
          )
        })
      )
    ),
    Effect.andThen(Effect.yieldNow),
    Effect.forever({ disableYield: true })
  )

  readonly sweep: Effect.Effect<void> = guarded(
    Effect.suspend(() => {
      const { states, watch } = this.parts
      watch.sweep()
      const waits = states
        .watched()
        .filter((clientId) =>
          states.of(clientId) === "CLOSE_OUT" ? !this.moved.has(clientId) : !watch.index.has(clientId)
        )
      this.moved.clear()
      const all = new Set([...waits, ...this.restless])
      return Effect.forEach(all, (clientId) => this.check(clientId), { concurrency: atOnce }).pipe(
        Effect.flatMap((found) => this.judgeAll(found.flat().toSorted(worstFirst)))
      )
    })
  )

  /** Judges the accounts. A judgement that may send a closing order first waits for capacity at the venue. */
  private judgeAll(due: ReadonlyArray<Judged>): Effect.Effect<void> {
    const { watch, calls } = this.parts
    if (watch.index.waiting > 0) watch.wake.openUnsafe()
    const inTurn = { concurrency: atOnce, discard: true } as const
    const closing = due.filter(({ mayClose }) => mayClose)
    const others = due.filter(({ mayClose }) => !mayClose)
    return Effect.all(
      [
        Effect.forEach(others, ({ clientId }) => this.judge(clientId), inTurn),
        Effect.forEach(closing, ({ clientId }) => Effect.andThen(calls.room, this.judge(clientId)), inTurn)
      ],
      inTurn
    )
  }

  /** Judges an account in a turn. If the turn changes nothing, the next check puts the account back into the index. */
  private judge(clientId: number): Effect.Effect<void> {
    const { host, watch } = this.parts
    const decide = (turn: Turn): void => {
      judgeRisk(turn, this.parts)
      this.notifyLosses(turn)
    }
    return host.dispatch({ subject: clientSubject(clientId), by, lane: "internal", decide }).pipe(
      Effect.catchCause((cause) => Effect.logWarning(notJudged, cause)),
      Effect.andThen(
        Effect.sync(() => {
          if (!watch.isTouched(clientId)) this.restless.add(clientId)
        })
      )
    )
  }

  /** Checks without a turn whether the account needs one. Returns at most one entry. */
  private check(clientId: number): Effect.Effect<ReadonlyArray<Due>> {
    const { host, clock } = this.parts
    return host
      .read(clientSubject(clientId), (state, facts) => standing(state, facts, clock.now()))
      .pipe(
        Effect.tap(({ onStaleMarks }) => this.logStale(clientId, onStaleMarks)),
        Effect.tap(({ isDue }) => (isDue ? Effect.void : this.atRest(clientId))),
        Effect.map(({ isDue, risk }) => (isDue ? [{ clientId, risk, mayClose: risk.riskState === "CLOSE_OUT" }] : [])),
        Effect.catchCause((cause) => Effect.as(Effect.logWarning(notJudged, cause), []))
      )
  }

  /**
   * Puts the account back into the index. An account that is due again at once has a mark on its threshold: the check
   * each second continues, without turns.
   */
  private atRest(clientId: number): Effect.Effect<void> {
    if (!this.restless.has(clientId)) return Effect.void
    const { watch } = this.parts
    return Effect.andThen(
      watch.reread(clientId),
      Effect.sync(() => {
        if (!watch.index.takeOne(clientId)) this.restless.delete(clientId)
      })
    )
  }

  private logStale(clientId: number, onStaleMarks: boolean): Effect.Effect<void> {
    if (!onStaleMarks) return Effect.sync(() => void this.loggedStale.delete(clientId))
    if (this.loggedStale.has(clientId)) return Effect.void
    this.loggedStale.add(clientId)
    return Effect.logWarning(
      `client ${clientId} is in a close-out that is based on stale marks; its risk is judged again each second`
    )
  }

  /** Publishes loss notices at the turn's own marks. */
  private notifyLosses(turn: Turn): void {
    const { state, facts, now } = turn
    const client = state.one("clients")
    if (client === undefined || facts.takenAt === null) return
    const losses = lossesIn(state, accountIn(state, facts).risk, now)
    if (losses.length === 0) return
    const partner = partnerOfTurn(turn, this.parts.directory, client)
    if (partner === null) throw new Error(`client:${client.id} has no partner`)
    notifyLosses(turn, instanceOf(client, partner), losses)
  }
}

interface Judged {
  readonly clientId: number
  /** True: the judgement may send a closing order. */
  readonly mayClose: boolean
}

/** A due account with the figures that rank it. */
interface Due extends Judged {
  readonly risk: Pick<AccountRisk, "closeOutEquity" | "marginBase">
}

/** Sorts by the ratio of equity to margin, lowest first. A debt without margin ranks first. */
const worstFirst = ({ risk: one }: Due, { risk: other }: Due): number => {
  const left = one.closeOutEquity * (other.marginBase === 0n ? 1n : other.marginBase)
  const right = other.closeOutEquity * (one.marginBase === 0n ? 1n : one.marginBase)
  return left === right ? 0 : left < right ? -1 : 1
}

interface Standing {
  readonly risk: AccountRisk
  /** True: the account needs a judgement. */
  readonly isDue: boolean
  /** True: the account is in close-out by marks of which at least one is stale. */
  readonly onStaleMarks: boolean
}

const standing = (state: SubjectState, facts: Facts, now: number): Standing => {
  const { risk } = accountIn(state, facts)
  const recorded = recordedIn(state)
  const goesOn = state.all("closeOuts").some(isGoingOn)
  const opensOne = stateToRecord(risk, recorded) === "CLOSE_OUT" && risk.anyExposure
  const moves = goesOn || opensOne || stateToRecord(risk, recorded) !== recorded
  return {
    risk,
    isDue: facts.takenAt !== null && (moves || lossesIn(state, risk, now).length > 0),
    onStaleMarks: risk.riskState === "CLOSE_OUT" && risk.anyExposure && !risk.marksFresh
  }
}

const lossesIn = (state: SubjectState, risk: AccountRisk, now: number) => {
  const client = state.one("clients")
  return client === undefined ? [] : lossesToNotify(state, { client, risk, now })
}
