/** The whole core over random inputs: a restored venue continues as the original would, and its invariants hold. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { amountOf } from "../../simulator/venue/core/texts.ts"
import { Venue } from "../../simulator/venue/core/Venue.ts"
import type { VenueListeners } from "../../simulator/venue/core/VenueInput.ts"
import type { VenueState } from "../../simulator/venue/core/VenueState.ts"
import type { ChannelMessage } from "../../src/machines/venue/marketData.ts"
import type { VenueEvent } from "../../src/machines/venue/VenueEvent.ts"
import { accountInputs, type Draft, drafts, venueOptions } from "./venueInputs.ts"

const heard = () => {
  const events: Array<VenueEvent> = []
  const messages: Array<ChannelMessage> = []
  const listeners: VenueListeners = {
    event: (event) => void events.push(event),
    market: (message) => void messages.push(message)
  }
  return { events, messages, listeners }
}

/** Plays drafts on a venue. Returns their inputs and results. */
const played = (venue: Venue, steps: ReadonlyArray<Draft>, offset = 0) =>
  steps.map((draft, n) => {
    const input = draft(offset + n, venue)
    return { input, applied: venue.apply(input) }
  })

const opened = (seed: number, listeners: VenueListeners): Venue => {
  const venue = new Venue(venueOptions({ seed }), listeners)
  for (const input of accountInputs) venue.apply(input)
  return venue
}

/** The state after a round trip through JSON, as from a disk. */
const stored = (state: VenueState): VenueState => JSON.parse(JSON.stringify(state)) as VenueState

/** The sum of the column for each key. */
const sums = (rows: ReadonlyArray<{ readonly key: string; readonly text: string }>): Map<string, bigint> => {
  const found = new Map<string, bigint>()
  for (const { key, text } of rows) found.set(key, (found.get(key) ?? 0n) + (amountOf(text, 12) ?? 0n))
  return found
}

describe("a venue's state", () => {
  it("restored at any point, a venue answers, publishes and keeps the same as the original", () => {
    fc.assert(
      fc.property(drafts(60), fc.nat(60), fc.nat(1_000), (steps, cut, seed) => {
        const whole = heard()
        const first = opened(seed, whole.listeners)
        played(first, steps.slice(0, cut))
        const state = stored(first.state())
        whole.events.length = 0
        whole.messages.length = 0
        const rest = heard()
        const second = Venue.restore(state, rest.listeners)
        assert.deepStrictEqual(stored(second.state()), state)
        for (const { input, applied } of played(first, steps.slice(cut), cut))
          assert.deepStrictEqual(second.apply(input), applied)
        assert.deepStrictEqual(rest.events, whole.events)
        assert.deepStrictEqual(rest.messages, whole.messages)
        assert.deepStrictEqual(stored(second.state()), stored(first.state()))
      }),
      { numRuns: 15 }
    )
  })

  it("quantity, money and assets sum to zero; no book crosses; numbers and sequences have no gap; every ref has one outcome", () => {
    fc.assert(
      fc.property(drafts(80), fc.nat(1_000), (steps, seed) => {
        const { events, messages, listeners } = heard()
        const venue = opened(seed, listeners)
        const outcomes = new Map<string, string>()
        for (const [n, step] of steps.entries()) {
          for (const { ref, outcome } of venue.apply(step(n, venue)).outcomes) {
            assert.strictEqual(outcomes.get(ref) ?? outcome, outcome, ref)
            outcomes.set(ref, outcome)
          }
          for (const { symbol } of venue.markets()) {
            const { bids, asks } = booksOf(venue, symbol)
            if (bids !== null && asks !== null) assert.isBelow(bids, asks, symbol)
          }
        }
        const ledger = venue.ledger()
        const positions = ledger.flatMap(({ positions: held }) => held)
        const balances = ledger.flatMap(({ balances: held }) => held)
        for (const sum of [
          ...sums(positions.map(({ symbol, netQty }) => ({ key: symbol, text: netQty }))).values(),
          ...sums(positions.map(({ symbol, flow }) => ({ key: symbol, text: flow }))).values(),
          ...sums(balances.map(({ asset, amount }) => ({ key: asset, text: amount }))).values()
        ])
          assert.strictEqual(sum, 0n)
        assert.deepStrictEqual(
          events.map(({ number }) => number),
          events.map((_, n) => n + 1)
        )
        assert.deepStrictEqual(venue.eventsAfter(0), events)
        const sequences = new Map<string, number>()
        for (const { fact } of events) {
          if (!("account" in fact)) continue
          assert.strictEqual(fact.sequence, (sequences.get(fact.account) ?? 0) + 1)
          sequences.set(fact.account, fact.sequence)
        }
        for (const [account, last] of sequences) assert.strictEqual(venue.account(account)?.sequence, last)
        const channels = new Map<string, number>()
        for (const { channel, symbol, seq } of messages) {
          assert.strictEqual(seq, (channels.get(`${channel} ${symbol}`) ?? 0) + 1)
          channels.set(`${channel} ${symbol}`, seq)
        }
      }),
      { numRuns: 25 }
    )
  })
})

const booksOf = (venue: Venue, symbol: string): { readonly bids: number | null; readonly asks: number | null } => {
  const ticker = venue.snapshot("ticker", symbol)
  if (ticker?.channel !== "ticker") return { bids: null, asks: null }
  const price = (text: string | null): number | null => (text === null ? null : Number(text))
  return { bids: price(ticker.bestBid), asks: price(ticker.bestAsk) }
}
