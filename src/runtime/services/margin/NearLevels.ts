/**
 * Tells clients once that the mark has come near to a level at which a contract of theirs ends (A2-31). Ticks take no turn:
 * the levels of all open contracts lie in an index beside the mailboxes, built from the rows after the start, and only one that
 * is near gives its client a command. Nobody waits for that: what marks say meanwhile is gone through once it is built. What was said is kept with the contract; that the mark has gone away again is not, so a
 * restart says nothing twice (decision 0015).
 */
import { Effect, Latch, Layer, Schedule } from "effect"
import type { Mark } from "../../../machines/market/Facts.ts"
import { advance } from "../../effects/advance.ts"
import { ActorHost, type Attribution, type Turn } from "../../engine/mailbox/ActorHost.ts"
import { LevelReads } from "../../ports/LevelReads.ts"
import type { BarrierContractRow } from "../../tables/barrier.ts"
import { contractInTurn } from "../trading/contract/contractDecisions.ts"
import { clientSubject } from "../account/clientState.ts"
import { subscribe } from "../../subscriptions.ts"
import { MarketFeed } from "../market/MarketFeed.ts"
import { LevelIndex, type NearLevel } from "./LevelIndex.ts"

/** Levels looked at in one go, so that a move through very many of them keeps nobody waiting. */
const most = 4_096
/** Clients that are told side by side. */
const atOnce = 64
/** Before what failed is tried again, ms. */
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
  /** What is to be said, by client. */
  private readonly near = new Map<number, Array<NearLevel>>()
  /** Markets that a tick has not gone through yet. */
  private readonly unfinished = new Map<string, Mark>()
  private readonly wake = Latch.makeUnsafe(false)
  /** Every contract that was open at the start is in the index. */
  private isBuilt = false

  constructor(parts: Parts) {
    this.parts = parts
    subscribe(parts.host, "NearLevels", { barrierContracts: (row) => this.take(row) })
    parts.feed.mirror.onMark((symbol, mark) => this.tick(symbol, mark))
  }

  /** The contracts that are open already. One that ends meanwhile is looked at for nothing, once. */
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
        return Effect.forEach(near, ([clientId, levels]) => this.say(clientId, levels), {
          concurrency: atOnce,
          discard: true
        })
      })
    ),
    Effect.andThen(Effect.yieldNow),
    Effect.forever({ disableYield: true })
  )

  private take(row: BarrierContractRow): void {
    const { id, clientId, symbol, state, context } = row
    if (state !== "OPEN") return this.index.remove(id)
    const { side, barrier, takeProfit, said } = context
    this.index.add({ contractId: id, clientId, symbol, side, barrier, takeProfit, said })
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

  private say(clientId: number, levels: ReadonlyArray<NearLevel>): Effect.Effect<void> {
    const told = this.parts.host.dispatch({
      subject: clientSubject(clientId),
      by,
      lane: "internal",
      decide: (turn) => levels.forEach((level) => sayNear(turn, level))
    })
    return Effect.catchCause(told, (cause) =>
      Effect.logWarning("the notice of a near level could not be written", cause).pipe(
        Effect.andThen(Effect.sleep(againMillis)),
        Effect.andThen(Effect.sync(() => this.add(levels)))
      )
    )
  }
}

/** One that has ended meanwhile says nothing. */
const sayNear = (turn: Turn, { contractId, level }: NearLevel): void => {
  const row = contractInTurn(turn, contractId)
  if (row !== undefined) advance(turn, "barrierContracts", row, { type: level === "BARRIER" ? "NEAR_KO" : "NEAR_TP" })
}
