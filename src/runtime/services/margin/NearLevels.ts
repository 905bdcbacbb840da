/**
 * Notifies a client once when the mark comes near to a level at which one of its contracts ends. Ticks take no turn:
 * an index beside the mailboxes holds the levels of all open contracts, and only a near level dispatches a command to
 * its client.
 *
 * The index is built from stored rows after the start, without delaying the start. Ticks that arrive before the index
 * is complete are processed after it. Each contract stores which of its notices were sent, so a restart repeats none.
 * Only memory holds whether the mark has moved away again (decision 0015; A2-31).
 */
import { Effect, Latch, Layer, Schedule } from "effect"
import type { Mark } from "../../../machines/market/Facts.ts"
import { advance } from "../../effects/advance.ts"
import { ActorHost, type Attribution, type Turn } from "../../engine/mailbox/ActorHost.ts"
import { LevelReads } from "../../ports/LevelReads.ts"
import type { ContractRow } from "../../tables/contract.ts"
import { contractInTurn } from "../trading/contract/contractDecisions.ts"
import { clientSubject } from "../account/clientState.ts"
import { subscribe } from "../../subscriptions.ts"
import { MarketFeed } from "../market/MarketFeed.ts"
import { LevelIndex, type NearLevel } from "./LevelIndex.ts"

/** The most levels that one tick visits before it yields, so that a large move does not block other work. */
const most = 4_096
/** Clients that are notified concurrently. */
const atOnce = 64
/** The pause before a retry, ms. */
const againMillis = 1_000

const by: Attribution = { role: "SYSTEM", keyLabel: "risk", requestId: "risk", actor: "system:risk" }

interface Parts {
  readonly host: ActorHost["Service"]
  readonly stored: LevelReads["Service"]
  readonly feed: MarketFeed["Service"]
}

export const layerNearLevels = Layer.effectDiscard(
  Effect.gen(function* () {
    const levels = new NearLevels({ host: yield* ActorHost, stored: yield* LevelReads, feed: yield* MarketFeed })
    yield* Effect.forkScoped(Effect.andThen(levels.begin, levels.run))
  })
)

class NearLevels {
  private readonly parts: Parts
  private readonly index = new LevelIndex()
  /** Levels whose notice is due, by client. */
  private readonly near = new Map<number, Array<NearLevel>>()
  /** Markets whose last tick is not fully processed. */
  private readonly unfinished = new Map<string, Mark>()
  private readonly wake = Latch.makeUnsafe(false)
  /** True once the index holds every contract that was open at the start. */
  private isBuilt = false

  constructor(parts: Parts) {
    this.parts = parts
    subscribe(parts.host, "NearLevels", { barrierContracts: (row) => this.take(row) })
    parts.feed.mirror.onMark((symbol, mark) => this.tick(symbol, mark))
  }

  /**
   * Loads the open contracts. A contract that ends during the load may stay in the index; its one command then changes nothing.
   */
  readonly begin: Effect.Effect<void> = Effect.suspend(() =>
    this.parts.stored.each((contract) => this.index.add(contract))
  ).pipe(
    Effect.retry(Schedule.spaced(againMillis)),
    Effect.orDie,
    Effect.andThen(Effect.sync(() => void (this.isBuilt = true)))
  )

  readonly run: Effect.Effect<never> = Effect.suspend(() => this.wake.await).pipe(
    Effect.andThen(
      Effect.suspend(() => {
        this.wake.closeUnsafe()
        const unfinished = [...this.unfinished]
        this.unfinished.clear()
        for (const [symbol, mark] of unfinished) this.tick(symbol, mark)
        const near = [...this.near]
        this.near.clear()
        return Effect.forEach(near, ([clientId, levels]) => this.notify(clientId, levels), {
          concurrency: atOnce,
          discard: true
        })
      })
    ),
    Effect.andThen(Effect.yieldNow),
    Effect.forever({ disableYield: true })
  )

  private take(row: ContractRow): void {
    const { id, clientId, symbol, state, context } = row
    if (state !== "OPEN") return this.index.remove(id)
    const { side, barrier, takeProfit, said: notified } = context
    this.index.add({ contractId: id, clientId, symbol, side, barrier, takeProfit, notified })
  }

  private tick(symbol: string, mark: Mark): void {
    if (this.isBuilt && this.index.tick(symbol, mark.price, (level) => this.add([level]), most) < most) return
    this.unfinished.set(symbol, mark)
    this.wake.openUnsafe()
  }

  private add(levels: ReadonlyArray<NearLevel>): void {
    for (const level of levels) {
      const waiting = this.near.get(level.clientId)
      if (waiting === undefined) this.near.set(level.clientId, [level])
      else waiting.push(level)
    }
    this.wake.openUnsafe()
  }

  private notify(clientId: number, levels: ReadonlyArray<NearLevel>): Effect.Effect<void> {
    const dispatched = this.parts.host.dispatch({
      subject: clientSubject(clientId),
      by,
      lane: "internal",
      decide: (turn) => levels.forEach((level) => notifyNear(turn, level))
    })
    return Effect.catchCause(dispatched, (cause) =>
      Effect.logWarning(
        "the notice that a contract is near its knock-out or take-profit could not be written: it is retried in a second",
        cause
      ).pipe(
        Effect.annotateLogs({ clientId }),
        Effect.andThen(Effect.sleep(againMillis)),
        Effect.andThen(Effect.sync(() => this.add(levels)))
      )
    )
  }
}

/** The contract may have ended since the tick; it then gets no notice. */
const notifyNear = (turn: Turn, { contractId, level }: NearLevel): void => {
  const row = contractInTurn(turn, contractId)
  if (row !== undefined) advance(turn, "barrierContracts", row, { type: level === "BARRIER" ? "NEAR_KO" : "NEAR_TP" })
}
