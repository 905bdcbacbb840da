/** The service's RiskWatch on rows, marks and a clock of a test. */
import { Effect, Layer } from "effect"
import type { Facts, Mark } from "../../../src/machines/market/Facts.ts"
import { BusinessClock } from "../../../src/runtime/engine/clock/BusinessClock.ts"
import { ActorHost } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import { ExposureReads } from "../../../src/runtime/ports/ExposureReads.ts"
import { MarketFeed } from "../../../src/runtime/services/market/MarketFeed.ts"
import { MarketMirror } from "../../../src/runtime/services/market/MarketMirror.ts"
import { RiskWatch } from "../../../src/runtime/services/margin/RiskWatch.ts"
import type { TableName, Tables } from "../../../src/runtime/tables/Catalogue.ts"
import { MoneyDecimal } from "../../../src/machines/shared/Money.ts"

export type Commit = <T extends TableName>(table: T, row: Tables[T]) => void

interface Watched {
  readonly facts: () => Facts
  readonly stateOf: (subject: string) => SubjectState
  /** The accounts with positions at the start; it may commit meanwhile. */
  readonly each: (commit: Commit, ...given: Parameters<ExposureReads["Service"]["each"]>) => void
  /** Clients with perpetual orders at the start. */
  readonly ordering: () => ReadonlyArray<number>
  readonly now?: () => number
}

export const watchOn = ({ facts, stateOf, each, ordering, now = () => 0 }: Watched) => {
  const listeners = new Map<TableName, (row: never) => void>()
  const commit: Commit = (table, row) => listeners.get(table)?.(row as never)
  const mirror = new MarketMirror(facts().terms)
  let receive: (symbol: string, mark: Mark) => void = () => {}
  mirror.onMark = (listener) => void (receive = listener)
  const host = Layer.mock(ActorHost, {
    onCommitted: (table, listener) => void listeners.set(table, listener),
    readNow: (subject, look) => Effect.sync(() => look(stateOf(subject), facts())),
    onCallEnded: () => {},
    onDecided: () => {},
    facts,
    pressed: () => false,
    stats: () => ({ resident: 0, waiting: 0 })
  })
  const reads = Layer.succeed(
    ExposureReads,
    ExposureReads.of({
      ordering: (take) => Effect.sync(() => ordering().forEach(take)),
      each: (...given) => Effect.sync(() => each(commit, ...given))
    })
  )
  const feed = Layer.succeed(MarketFeed, { mirror, facts, standing: () => "live" } as unknown as MarketFeed["Service"])
  const clock = Layer.succeed(BusinessClock, { now, offset: () => 0 } as unknown as BusinessClock["Service"])
  const mark = (symbol: string, price: string): void =>
    receive(symbol, { price: new MoneyDecimal(price), at: now(), places: 2, current: true })
  const begun = Effect.gen(function* () {
    const watch = yield* RiskWatch
    yield* watch.begin
    return { watch, mark, commit }
  })
  return Effect.provide(begun, RiskWatch.layer.pipe(Layer.provide([host, reads, feed, clock])))
}
