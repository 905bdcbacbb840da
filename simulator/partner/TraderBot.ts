/**
 * Trading clients of the simulated partner. Each client places LIMIT and MARKET orders on a perpetual and on spot, cancels
 * orders that may still work, and retries every request with the same bytes until its final answer. The bot sends one request a
 * client at a time.
 */
import { Clock, Effect } from "effect"
import type { PartnerClient } from "./PartnerClient.ts"
import type { SeededRandom } from "./SeededRandom.ts"
import { makeTally, sendUntilAcknowledged } from "./sendUntilAcknowledged.ts"
import { TradeJournal } from "./TradeJournal.ts"
import {
  admissionRequest,
  cancelOrderRequest,
  onboardingRequest,
  placeRequest,
  type TradeRequest
} from "./TradeRequest.ts"

export interface TraderBotOptions {
  readonly client: PartnerClient
  readonly random: SeededRandom
  /** Separates runs on one database, as for the partner's other clients. */
  readonly tag: string
  readonly traders: number
  /** Orders a second over all traders. */
  readonly rate: number
  /** Approximate price of BTC, whole USDC. */
  readonly price: () => number
}

const cancelShare = 0.25
/** The number of a trader's newest orders that the bot may cancel. */
const remembered = 20

interface Trader {
  readonly number: number
  readonly clientId: number
  /** Ids of the trader's newest LIMIT orders that the bot has not cancelled, at most `remembered`. */
  resting: ReadonlyArray<number>
}

export class TraderBot {
  readonly journal = new TradeJournal()
  readonly tally = makeTally()
  readonly traders: Array<Trader> = []
  private readonly options: TraderBotOptions
  private planned = 0
  private stopped = false

  constructor(options: TraderBotOptions) {
    this.options = options
  }

  /** Prepares the traders; call it once, before the first kill. */
  readonly admit: Effect.Effect<void> = Effect.suspend(() =>
    Effect.forEach(
      Array.from({ length: this.options.traders }, (_, number) => number),
      (number) => this.admitOne(number),
      { concurrency: 4, discard: true }
    )
  )

  /** Trades until it is stopped and every request is answered. */
  readonly work: Effect.Effect<void> = Effect.suspend(() => {
    this.stopped = false
    return Effect.forEach(this.traders, (trader) => this.trade(trader), { concurrency: "unbounded", discard: true })
  })

  stopPlanning(): void {
    this.stopped = true
  }

  private admitOne(number: number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { tag } = this.options
      const { answer } = yield* this.perform(0, onboardingRequest(tag, number, yield* Clock.currentTimeMillis))
      const clientId = Number(/"clientId":(\d+)/.exec(answer.body.toString())?.[1])
      if (!Number.isInteger(clientId)) return
      for (const request of admissionRequest(tag, number, clientId)) yield* this.perform(clientId, request)
      this.traders.push({ number, clientId, resting: [] })
    })
  }

  private trade(trader: Trader): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { random, rate, traders } = this.options
      while (!this.stopped) {
        yield* Effect.sleep((traders / rate) * 1_000 * (0.5 + random.next()))
        if (this.stopped) return
        yield* this.one(trader)
      }
    })
  }

  private one(trader: Trader): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { random, tag, price } = this.options
      const { clientId, resting } = trader
      if (resting.length > 0 && random.chance(cancelShare)) {
        const orderId = random.pick(resting)
        trader.resting = resting.filter((each) => each !== orderId)
        yield* this.perform(clientId, cancelOrderRequest(clientId, orderId))
        return
      }
      const key = `${tag}-order-${this.planned++}`
      const request = placeRequest(random, { clientId, price: price(), key })
      const { order } = yield* this.perform(clientId, request)
      if (order?.sent.type === "LIMIT") trader.resting = [...trader.resting, order.orderId].slice(-remembered)
    })
  }

  private perform(clientId: number, request: TradeRequest) {
    const { client, random } = this.options
    return Effect.map(sendUntilAcknowledged(client, request.call, random, this.tally), (answer) => ({
      answer,
      order: this.journal.acknowledge(clientId, request, answer)
    }))
  }
}
