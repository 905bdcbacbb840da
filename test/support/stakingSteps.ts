/**
 * Steps of scenarios of staking at the simulated venue: they create a client with assets that may take offers, take
 * offers, and advance both clocks together.
 */
import { assert } from "@effect/vitest"
import type { VenueCommand } from "../../src/venue/VenueCommand.ts"
import { Effect, Layer, Stream } from "effect"
import type { VenueEvent } from "../../src/machines/venue/VenueEvent.ts"
import { Venue } from "../../src/runtime/ports/Venue.ts"
import { SwapDesk } from "../../src/runtime/services/trading/swap/SwapDesk.ts"
import { contractVenue } from "./contractVenue.ts"
import { advance, get } from "./Builders.ts"
import { orderSteps } from "./orderSteps.ts"
import { quickClock } from "./quickClock.ts"
import { type Answer, operator, type Service } from "./Service.ts"
import type { Headers, Members, stepsOf } from "./steps.ts"

/** The service's pause between two reads of the board of offers, ms. */
const boardPause = 2_000

const isEvent = (line: object): line is VenueEvent => "fact" in line && "number" in line

/** The simulated venue with writers that the test controls. */
export const stakingVenue = () => {
  const world = contractVenue()
  const command = (given: VenueCommand): number | null => {
    const { refusal, id } = world.venue.apply({ type: "command", command: given })
    if (refusal !== null) throw new Error(refusal)
    return id
  }
  let restating = false
  let omitting = false
  /** The line with another first payment of the swap, or without payments and end. */
  const restated = <Line extends object>(line: Line | VenueEvent): Line | VenueEvent => {
    if (!isEvent(line) || line.fact.type !== "swap") return line
    const { swap } = line.fact
    if (omitting) return { ...line, fact: { ...line.fact, swap: { ...swap, payments: [], end: null } } }
    if (!restating) return line
    const payments = swap.payments.map((each, at) => (at === 0 ? { ...each, amount: "1.5" } : each))
    return { ...line, fact: { ...line.fact, swap: { ...swap, payments } } }
  }
  const layerVenue = Layer.effect(
    Venue,
    Effect.map(Venue, (whole) => Venue.of({ ...whole, events: (after) => Stream.map(whole.events(after), restated) }))
  ).pipe(Layer.provide(world.layerVenue))
  return {
    ...world,
    layerVenue,
    /** A service with this clock reads the board as soon as an offer is published. */
    clock: quickClock(),
    /** While on, the venue reports another amount for the first payment of each swap. */
    restate: (on: boolean) => void (restating = on),
    /** While on, the venue omits the payments and the end of each swap. */
    omit: (on: boolean) => void (omitting = on),
    command,
    /** Publishes an offer. Returns its id. */
    offer: (symbol: string, given: Members = {}): number => {
      const {
        rateBps = 400,
        tenorDays = 7,
        qty = "100"
      } = given as Partial<{
        rateBps: number
        tenorDays: number
        qty: string
      }>
      return command({ type: "offer", symbol, rateBps, tenorDays, qty }) as number
    },
    /** The writer pays an amount, or its whole debt. */
    pay: (contractId: number, amount: string | null = null): void => void command({ type: "pay", contractId, amount }),
    correctFee: (contractId: number, fee: string): void => void command({ type: "correctFee", contractId, fee }),
    delist: (symbol: string): void => void command({ type: "delist", symbol }),
    /** The next `times` maturing swaps are not paid. */
    defaulting: (times: number): void =>
      void command({
        type: "fault",
        kind: "writer-default",
        route: "all",
        symbol: null,
        forMillis: null,
        times,
        delayMillis: null
      })
  }
}

export const stakingSteps = (
  service: Service,
  key: string,
  world: ReturnType<typeof stakingVenue>,
  steps: Pick<ReturnType<typeof stepsOf>, "call" | "report" | "adjust">
) => {
  const { trader, poll } = orderSteps(service, key, steps)
  const read = async (clientId: number, path: string) => {
    const { status, json, text } = await get(service, key, `/clients/${clientId}${path}`)
    assert.strictEqual(status, 200, text)
    return json
  }
  const swap = async (clientId: number, id: number) => (await read(clientId, `/staking/swaps/${id}`)).data
  const take = (clientId: number, offerId: number, qty: string, headers: Headers = {}): Promise<Answer> =>
    steps.call("POST", clientId, `/staking/${offerId}/accept`, { qty }, headers)
  /** Publishes an offer and waits until the service has read it. */
  const offered = async (symbol: string, given: Members = {}): Promise<number> => {
    const offerId = world.offer(symbol, given)
    await poll(
      async () => {
        world.clock.end(boardPause)
        return (await get(service, key, "/staking/offers")).json.data?.offers ?? []
      },
      (offers: ReadonlyArray<{ readonly offerId: number }>) => offers.some((each) => each.offerId === offerId)
    )
    return offerId
  }
  return {
    poll,
    read,
    swap,
    take,
    offered,
    /** A client that may take offers, with this USDC and ETH. */
    lender: async ({ usdc = "1000.00", eth = "20" } = {}): Promise<number> => {
      const clientId = await trader(usdc)
      if (eth !== "0") await steps.adjust(clientId, eth, "ETH")
      return clientId
    },
    /** Takes a part of a new offer. Returns the swap of the answer. */
    taken: async (clientId: number, symbol: string, qty: string, given: Members = {}) => {
      const offerId = await offered(symbol, given)
      const { status, json, text } = await take(clientId, offerId, qty)
      assert.strictEqual(status, 200, text)
      return json.data
    },
    // oxlint-disable-next-line typescript/no-explicit-any
    until: (clientId: number, id: number, found: (swap: any) => boolean) => poll(() => swap(clientId, id), found),
    /** Advances both clocks, the venue's first, as in a sandbox. */
    later: async (millis: number): Promise<void> => {
      world.leap(millis)
      await advance(service, millis)
    },
    /** Cash and reserve of a currency. */
    held: async (clientId: number, currency: string): Promise<readonly [string, string]> => {
      const { balances } = await read(clientId, "/balances")
      const line = balances.find((each: { readonly currency: string }) => each.currency === currency)
      return [line.cash, line.reserved]
    },
    writeOff: async (swapId: number, amount: string) => {
      const verdict = await service.run(
        Effect.provide(
          SwapDesk.use((desk) => desk.writeOff(operator, { swapId, amount, reason: "the writer is insolvent" })),
          SwapDesk.layer
        )
      )
      if (!verdict.ok) throw new Error(JSON.stringify(verdict.refusal))
      return verdict.value
    }
  }
}
