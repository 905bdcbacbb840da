/**
 * Clients with positions that a falling market forces to close, for crash runs. Each buys as much as its money allows,
 * and the price falls during the fault. In the end each client must be flat and without debt, and its episodes must
 * have ended (F9, F10).
 */
import { Effect, Schema } from "effect"
import type { PartnerClient } from "../../simulator/partner/PartnerClient.ts"
import { makePartnerReads } from "../../simulator/partner/PartnerReads.ts"
import { clientsPath } from "../../simulator/partner/PartnerRequest.ts"
import type { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { makeTally, sendUntilAcknowledged } from "../../simulator/partner/sendUntilAcknowledged.ts"
import {
  admissionRequest,
  onboardingRequest,
  tradedPerp,
  type TradeRequest
} from "../../simulator/partner/TradeRequest.ts"
import { minorOf, MoneyDecimal } from "../../src/machines/shared/Money.ts"

/** The deposit of each client, micro-USDC, and its purchase at leverage ten: 600 of margin at a price of 60,000. */
const money = 700_000_000n
const carried = "0.1"
const tag = "carry"

export interface CarriersOptions {
  readonly client: PartnerClient
  readonly random: SeededRandom
  /** GET of the operator surface, with its data. */
  readonly operatorRead: (path: string) => Effect.Effect<unknown>
}

const Episodes = Schema.Struct({
  closeouts: Schema.Array(Schema.Struct({ closeOutId: Schema.Int, state: Schema.String, writtenOff: Schema.String }))
})

export class Carriers {
  readonly clients: Array<number> = []
  private readonly options: CarriersOptions

  constructor(options: CarriersOptions) {
    this.options = options
  }

  /** Adds this number of clients, each with its position. The price must be one at which the deposit suffices. */
  readonly add = (count: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      const first = this.clients.length
      return Effect.forEach(
        Array.from({ length: count }, (_, at) => first + at),
        (number) => this.addOne(number),
        { discard: true }
      )
    })

  /** True if no client of the list has an open position, a working order or a live episode. */
  readonly areFlat: Effect.Effect<boolean> = Effect.suspend(() =>
    Effect.map(
      Effect.forEach(this.clients, (clientId) => this.isFlat(clientId), { concurrency: 4 }),
      (flat) => flat.every((each) => each)
    )
  )

  /** All violations as sentences. Call it once all clients are flat. */
  readonly faults: Effect.Effect<ReadonlyArray<string>> = Effect.suspend(() =>
    Effect.map(
      Effect.forEach(this.clients, (clientId) => this.faultsOf(clientId), { concurrency: 4 }),
      (all) => all.flat()
    )
  )

  private addOne(number: number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const answer = yield* this.perform(onboardingRequest(tag, number, Date.now()))
      const clientId = Number(/"clientId":(\d+)/.exec(answer)?.[1])
      if (!Number.isInteger(clientId)) return yield* Effect.die(new Error(`carrier ${number}: ${answer}`))
      for (const request of admissionRequest(tag, number, clientId, money)) yield* this.perform(request)
      const body = JSON.stringify({ symbol: tradedPerp, side: "BUY", type: "MARKET", qty: carried })
      const path = `${clientsPath}/${clientId}/orders`
      const call = { method: "POST" as const, path, body, idempotencyKey: `${tag}-order-${number}` }
      const { status, body: said } = yield* sendUntilAcknowledged(
        this.options.client,
        call,
        this.options.random,
        makeTally()
      )
      if (status !== 200) return yield* Effect.die(new Error(`carrier ${number}: ${said.toString()}`))
      this.clients.push(clientId)
    })
  }

  private perform({ call }: TradeRequest): Effect.Effect<string> {
    const { client, random } = this.options
    return Effect.map(sendUntilAcknowledged(client, call, random, makeTally()), ({ body }) => body.toString())
  }

  private episodesOf(clientId: number) {
    return Effect.map(
      this.options.operatorRead(`/closeouts?client=${clientId}`),
      (data) => Schema.decodeUnknownSync(Episodes)(data).closeouts
    )
  }

  private isFlat(clientId: number): Effect.Effect<boolean> {
    const reads = makePartnerReads(this.options.client, this.options.random)
    return Effect.gen({ self: this }, function* () {
      const positions = yield* Effect.orDie(reads.positions(clientId))
      const episodes = yield* this.episodesOf(clientId)
      return positions.length === 0 && episodes.length > 0 && episodes.every(({ state }) => state === "DONE")
    })
  }

  private faultsOf(clientId: number): Effect.Effect<ReadonlyArray<string>> {
    const reads = makePartnerReads(this.options.client, this.options.random)
    return Effect.gen({ self: this }, function* () {
      const faults: Array<string> = []
      const balances = yield* Effect.orDie(reads.balances(clientId))
      const cash = balances.find(({ currency }) => currency === "USDC")?.cash ?? "0"
      if (minorOf(cash, "USDC") < 0n) faults.push(`Client ${clientId} has nothing open and owes ${cash} USDC.`)
      const orders = yield* Effect.orDie(reads.orders(clientId))
      const filled = (origin: string) =>
        orders
          .filter((order) => order.origin === origin)
          .reduce((sum, order) => sum.plus(order.filledQty), new MoneyDecimal(0))
      if (orders.some((order) => order.origin === "CLOSE_OUT" && !order.reduceOnly))
        faults.push(`Client ${clientId} was closed out by an order that could open.`)
      if (!filled("CLIENT").eq(filled("CLOSE_OUT")))
        faults.push(`Client ${clientId} bought ${filled("CLIENT")} and ${filled("CLOSE_OUT")} was closed.`)
      const postings = yield* Effect.orDie(reads.ledger(clientId))
      const posted = postings
        .filter(({ type, amount }) => type === "NBP_WRITEOFF" && !amount.startsWith("-"))
        .map(({ amount }) => amount)
      const said = (yield* this.episodesOf(clientId)).map(({ writtenOff }) => writtenOff)
      if (
        posted.toSorted().join() !==
        said
          .filter((each) => minorOf(each, "USDC") > 0n)
          .toSorted()
          .join()
      )
        faults.push(
          `Client ${clientId} was written off ${posted.join() || "nothing"}, its episodes say ${said.join()}.`
        )
      return faults
    })
  }
}
