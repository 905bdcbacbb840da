/**
 * Follows the accounts that marks can move (D23). Those with positions lie in an index (RiskWatch): when a mark passes the end of
 * one's share it is judged in a turn of its own, the worst first (F9), and told of its losses (A2-89). Looked at once a second
 * besides are those in a close-out, which may wait for what no commit tells of; those that are called with contracts alone; and
 * those whose turn changed nothing, for a mark on their line or one that is stale (F3). Callers go before all of it.
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
import { lossesToTell, tellLosses } from "./lossNotices.ts"
import { judgeRisk, type RiskParts, stateToRecord } from "./riskDecisions.ts"
import { RiskStates } from "../account/RiskStates.ts"
import type { DueAccount } from "./RiskIndex.ts"
import { RiskWatch } from "./RiskWatch.ts"

/** What may follow without a mark or a commit is looked for so often; a crossed mark is acted on at once (F9). */
const lookEvery = "1 second"
/** Accounts that are looked at side by side. */
const atOnce = 24
/** Those judged before the worst of all are chosen again. */
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
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(lookEvery), monitor.lookAround)))
  })
)

/** Registers the judgement of every turn; apart from the monitor, so that it is there before anything is decided. */
export const layerRiskJudgement = Layer.effectDiscard(
  Effect.gen(function* () {
    const parts = { directory: yield* Directory, markets: yield* orderMarkets }
    enforce(yield* ActorHost, "RiskMonitor", (turn) => judgeRisk(turn, parts))
  })
)

/** Below this an account of the index may be closed out: its level is worked out in floating point. */
const closeOutLevel = (closeOutPct + 1) / 100

const mayCloseBelow = ({ clientId, level }: DueAccount): Judged => ({ clientId, mayClose: level < closeOutLevel })

const notJudged = "the risk of an account could not be judged"

/** A fault of a pass is told, and the next one comes after a while. */
const guarded = (pass: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.catchCause(pass, (cause) =>
    Effect.andThen(Effect.logError("the risk monitor's pass over the accounts failed", cause), Effect.sleep(lookEvery))
  )

class Monitor {
  private readonly parts: MonitorParts
  /** Those that were due and whose turn changed nothing. */
  private readonly restless = new Set<number>()
  /** Those in a close-out of which something was committed since the last look around. */
  private readonly moved = new Set<number>()
  /** Those whose close-out was said to rest on stale marks. */
  private readonly said = new Set<number>()

  constructor(parts: MonitorParts) {
    this.parts = parts
    const { host, states } = parts
    const move = ({ clientId }: { readonly clientId: number }): void => {
      if (states.of(clientId) === "CLOSE_OUT") this.moved.add(clientId)
    }
    subscribe(host, "RiskMonitor", { orders: move, closeOuts: move })
  }

  /** Judges whoever is due, as long as there is somebody, and waits for marks and commits. A fault of one pass ends none. */
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

  readonly lookAround: Effect.Effect<void> = guarded(
    Effect.suspend(() => {
      const { states, watch } = this.parts
      watch.lookAround()
      const waits = states
        .watched()
        .filter((clientId) =>
          states.of(clientId) === "CLOSE_OUT" ? !this.moved.has(clientId) : !watch.index.has(clientId)
        )
      this.moved.clear()
      const all = new Set([...waits, ...this.restless])
      return Effect.forEach(all, (clientId) => this.look(clientId), { concurrency: atOnce }).pipe(
        Effect.flatMap((found) => this.judgeAll(found.flat().toSorted(worstFirst)))
      )
    })
  )

  /** Those of whom no order can follow do not wait for those that wait for room at the venue. */
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

  /** One whose turn changes nothing is not in the index until it was looked at again. */
  private judge(clientId: number): Effect.Effect<void> {
    const { host, watch } = this.parts
    const decide = (turn: Turn): void => {
      judgeRisk(turn, this.parts)
      this.tell(turn)
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

  /** Without a turn: whether one is needed. */
  private look(clientId: number): Effect.Effect<ReadonlyArray<Due>> {
    const { host, clock } = this.parts
    return host
      .read(clientSubject(clientId), (state, facts) => standing(state, facts, clock.now()))
      .pipe(
        Effect.tap(({ onStaleMarks }) => this.say(clientId, onStaleMarks)),
        Effect.tap(({ isDue }) => (isDue ? Effect.void : this.atRest(clientId))),
        Effect.map(({ isDue, risk }) => (isDue ? [{ clientId, risk, mayClose: risk.riskState === "CLOSE_OUT" }] : [])),
        Effect.catchCause((cause) => Effect.as(Effect.logWarning(notJudged, cause), []))
      )
  }

  /** It goes back into the index, unless it may still be on a line by that: then it is looked at again, and takes no turn for it. */
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

  private say(clientId: number, onStaleMarks: boolean): Effect.Effect<void> {
    if (!onStaleMarks) return Effect.sync(() => void this.said.delete(clientId))
    if (this.said.has(clientId)) return Effect.void
    this.said.add(clientId)
    return Effect.logWarning(`client ${clientId} is in a close-out that is based on stale marks`)
  }

  /** What the account has lost, on the turn's own marks. */
  private tell(turn: Turn): void {
    const { state, facts, now } = turn
    const client = state.one("clients")
    if (client === undefined || facts.takenAt === null) return
    const losses = lossesIn(state, accountIn(state, facts).risk, now)
    if (losses.length === 0) return
    const partner = partnerOfTurn(turn, this.parts.directory, client)
    if (partner === null) throw new Error(`client:${client.id} has no partner`)
    tellLosses(turn, instanceOf(client, partner), losses)
  }
}

/** An account that is judged. */
interface Judged {
  readonly clientId: number
  /** An order that closes may follow. */
  readonly mayClose: boolean
}

/** An account for which something may follow. */
interface Due extends Judged {
  readonly risk: Pick<AccountRisk, "closeOutEquity" | "marginBase">
}

/** By what is held of the margin, least first (F9); one that owes with nothing tied up has the least. */
const worstFirst = ({ risk: one }: Due, { risk: other }: Due): number => {
  const left = one.closeOutEquity * (other.marginBase === 0n ? 1n : other.marginBase)
  const right = other.closeOutEquity * (one.marginBase === 0n ? 1n : one.marginBase)
  return left === right ? 0 : left < right ? -1 : 1
}

interface Standing {
  readonly risk: AccountRisk
  /** Something may follow from how the account stands. */
  readonly isDue: boolean
  /** It is in a close-out by marks of which one is stale (F3). */
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
  return client === undefined ? [] : lossesToTell(state, { client, risk, now })
}
