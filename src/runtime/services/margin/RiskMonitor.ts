/**
 * Follows the accounts that marks can move (D23): those with positions on perpetuals, and those whose recorded risk state is not
 * NORMAL. With contracts alone and cash for all their premiums an account is NORMAL at any mark (F7), and what takes cash or
 * opens a contract is judged in its own commit. Clients are told of losses on the way (A2-89). Once a second each is looked at
 * without a turn; those where something follows take one, the worst first (F9). What a crash leaves half-way goes on from the
 * rows.
 */
import { Effect, Layer } from "effect"
import { liveCloseOutStates } from "../../../machines/margin/CloseOut.ts"
import type { AccountRisk } from "../../../machines/margin/accountRisk.ts"
import type { Facts } from "../../../machines/market/Facts.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { ActorHost, type Attribution, type Turn } from "../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import { accountIn, recordedIn } from "../account/accountNow.ts"
import { clientSubject, instanceOf } from "../client/clientState.ts"
import { orderMarkets } from "../order/orderMarkets.ts"
import { Directory } from "../partner/Directory.ts"
import { partnerOfTurn } from "../partner/partnerOfTurn.ts"
import { lossesToTell, tellLosses } from "./lossNotices.ts"
import { positionHolders } from "./positionHolders.ts"
import { judgeRisk, stateToRecord } from "./riskDecisions.ts"
import { RiskStates } from "./RiskStates.ts"

/** A crossed mark is acted on within this time (F9). */
const lookEvery = "1 second"
/** Accounts that are looked at side by side. */
const atOnce = 64

const by: Attribution = { role: "SYSTEM", keyLabel: "risk", requestId: "risk", actor: "system:risk" }

export const layerRiskMonitor = Layer.effectDiscard(
  Effect.gen(function* () {
    const host = yield* ActorHost
    const directory = yield* Directory
    const parts = { directory, markets: yield* orderMarkets }
    const clock = yield* BusinessClock
    const states = yield* RiskStates
    const holders = yield* positionHolders
    /** Those whose close-out was said to rest on stale marks. */
    const said = new Set<number>()

    const judge = (turn: Turn): void => {
      judgeRisk(turn, parts)
      tell(turn, directory)
    }
    const look = (clientId: number): Effect.Effect<ReadonlyArray<Due>> =>
      host
        .read(clientSubject(clientId), (state, facts) => standing(state, facts, clock.now()))
        .pipe(
          Effect.tap(({ onStaleMarks }) => say(clientId, onStaleMarks)),
          Effect.map(({ isDue, risk }) => (isDue ? [{ clientId, risk }] : [])),
          Effect.catchCause((cause) => Effect.as(Effect.logWarning(notJudged, cause), []))
        )
    const act = ({ clientId }: Due): Effect.Effect<void> =>
      host
        .dispatch({ subject: clientSubject(clientId), by, lane: "internal", decide: judge })
        .pipe(Effect.catchCause((cause) => Effect.logWarning(notJudged, cause)))
    const say = (clientId: number, onStaleMarks: boolean): Effect.Effect<void> => {
      if (!onStaleMarks) return Effect.sync(() => void said.delete(clientId))
      if (said.has(clientId)) return Effect.void
      said.add(clientId)
      return Effect.logWarning(`client ${clientId} is in a close-out that rests on stale marks`)
    }

    const lookAtAll = Effect.suspend(() =>
      Effect.forEach(new Set([...states.watched(), ...holders()]), look, { concurrency: atOnce })
    ).pipe(
      Effect.flatMap((found) =>
        Effect.forEach(found.flat().toSorted(worstFirst), act, { concurrency: atOnce, discard: true })
      )
    )
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(lookEvery), lookAtAll)))
  })
)

/** Registers the judgement of every turn; apart from the monitor, so that it is there before anything is decided. */
export const layerRiskJudgement = Layer.effectDiscard(
  Effect.gen(function* () {
    const parts = { directory: yield* Directory, markets: yield* orderMarkets }
    ;(yield* ActorHost).onDecided((turn) => judgeRisk(turn, parts))
  })
)

const notJudged = "the risk of an account could not be judged"

/** An account for which something may follow. */
interface Due {
  readonly clientId: number
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
  const goesOn = state.all("closeOuts").some((row) => (liveCloseOutStates as ReadonlyArray<string>).includes(row.state))
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

/** What the account has lost, on the turn's own marks. */
const tell = (turn: Turn, directory: Directory["Service"]): void => {
  const { state, facts, now } = turn
  const client = state.one("clients")
  if (client === undefined || facts.takenAt === null) return
  const losses = lossesIn(state, accountIn(state, facts).risk, now)
  if (losses.length === 0) return
  const partner = partnerOfTurn(turn, directory, client)
  if (partner === null) throw new Error(`client:${client.id} has no partner`)
  tellLosses(turn, instanceOf(client, partner), losses)
}
