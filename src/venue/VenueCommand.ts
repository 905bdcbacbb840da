/**
 * A tester's commands to the simulated venue, as one closed union, and the state that it then shows. Faults, dealers' moods and
 * restarts affect its transport and run on wall time; the others are inputs of its books (operator surface, `sim venue`;
 * A2-97).
 */
import { Schema } from "effect"
import { dealerMoods, everyFault, executionReasons, faultRoutes, heldPrices, longestKnobs } from "./testerTokens.ts"
import { DecimalText, Millis, Ref, SignedText, Symbol, VenueId, VenueText } from "../machines/venue/values.ts"
import { venueContractStates, venueOrderStates } from "../machines/venue/venueObjects.ts"

export { everyFault, faultKinds, faultRoutes, type FaultKind, type FaultRoute } from "./testerTokens.ts"

const command = <Type extends string, F extends Schema.Struct.Fields>(type: Type, fields: F) =>
  Schema.Struct({ type: Schema.Literal(type), ...fields })

export const VenueCommand = Schema.Union([
  /** Index, mark and last price of the base's markets, or one of them; held until path, set or clear. */
  command("price", {
    symbol: Symbol,
    price: DecimalText,
    only: Schema.NullOr(Schema.Literals(heldPrices))
  }),
  command("path", {
    symbol: Symbol,
    points: Schema.Array(Schema.Struct({ offsetMs: Schema.Int, price: DecimalText })).check(Schema.isMaxLength(100_000))
  }),
  /** The simulator's own book; size 0 empties it. */
  command("book", {
    symbol: Symbol,
    size: DecimalText,
    levels: Schema.NullOr(Schema.Int),
    spread: Schema.NullOr(Schema.Int)
  }),
  command("funding", { symbol: Symbol, rate: SignedText }),
  /** A trade of an account that the venue starts itself; price null: at the mark. */
  command("execute", {
    account: Ref,
    symbol: Symbol,
    qty: SignedText,
    price: Schema.NullOr(DecimalText),
    reason: Schema.Literals(executionReasons)
  }),
  command("halt", { symbol: Symbol }),
  command("resume", { symbol: Symbol }),
  command("delist", { symbol: Symbol }),
  command("offer", { symbol: Symbol, rateBps: Schema.Int, tenorDays: Schema.Int, qty: DecimalText }),
  /** amount null: the whole debt. */
  command("pay", { contractId: VenueId, amount: Schema.NullOr(DecimalText) }),
  command("correctFee", { contractId: VenueId, fee: DecimalText }),
  command("dealers", { mood: Schema.Literals(dealerMoods) }),
  /** Without `forMillis` and `times` the fault stays active until `clear`. `delayMillis` null: 2 s. */
  command("fault", {
    kind: Schema.Literals(everyFault),
    route: Schema.Literals(faultRoutes),
    symbol: Schema.NullOr(Symbol),
    forMillis: Schema.NullOr(Schema.Int),
    times: Schema.NullOr(Schema.Int),
    delayMillis: Schema.NullOr(Schema.Int)
  }),
  /**
   * Ends faults, paths, held prices and halts, resets book and funding, and sets dealers to normal; delisted markets stay
   * delisted.
   */
  command("clear", {}),
  /**
   * Advances business time to `to`; never back. `steps`: the most price steps on the way, for a part of a long jump. Funding
   * times and points of price paths are further steps.
   */
  command("advance", {
    to: Millis,
    steps: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10_000 })))
  }),
  /** The knobs of a YAML file, already checked by `VenueKnobs`; the whole text, so that errors name its lines. */
  command("set", { knobs: Schema.String.check(Schema.isMaxLength(longestKnobs)) }),
  /** Ends the process, which its supervisor starts again. */
  command("restart", {})
])
export type VenueCommand = typeof VenueCommand.Type

/** The most objects of each kind that an answer names. */
export const namedLimit = 100

/** Objects of accounts that a command changed at once: their number, and the first of them with their new states. */
const changed = <R extends Schema.Top, S extends ReadonlyArray<string>>(ref: R, states: S) =>
  Schema.Struct({
    count: Schema.Int,
    first: Schema.Array(
      Schema.Struct({ id: VenueId, ref, account: Ref, symbol: Symbol, state: Schema.Literals(states) })
    ).check(Schema.isMaxLength(namedLimit))
  })
const changedOrders = changed(Schema.NullOr(Ref), venueOrderStates)

const VenueChange = Schema.Struct({
  /** The change as a sentence without a final point; null without a change. */
  did: Schema.NullOr(VenueText),
  /** The price, rate or fee before and after; null for a command that sets none. With all prices of a market: its mark. */
  from: Schema.NullOr(SignedText),
  to: Schema.NullOr(SignedText),
  /** The prices that the command holds. */
  held: Schema.Array(Schema.Literals(heldPrices)),
  /** Orders with a fill. */
  filled: changedOrders,
  /** Conditional orders that fired. */
  triggered: changedOrders,
  cancelled: changedOrders,
  /** Contracts that ended, by a knock-out or otherwise. */
  ended: changed(Ref, venueContractStates)
})
/** The changes of a command, and the venue's immediate reactions. */
export type VenueChange = typeof VenueChange.Type

const none = { count: 0, first: [] }
export const noChange: VenueChange = {
  did: null,
  from: null,
  to: null,
  held: [],
  filled: none,
  triggered: none,
  cancelled: none,
  ended: none
}

export const VenueCommandAnswer = Schema.Struct({
  /** The number of the last event after the command. */
  number: Schema.Int,
  at: Millis,
  /** The id of the created object, such as a swap offer. */
  id: Schema.NullOr(VenueId),
  ...VenueChange.fields
})

/** Work that the books do at a time: funding of a market's positions, maturity of swaps, expiry of contracts. */
export const VenueDue = Schema.Struct({
  name: Schema.Literals(["funding", "maturity", "payment", "expiry"]),
  symbol: Symbol,
  at: Millis,
  /** The number of positions, swaps or contracts. */
  count: Schema.Int,
  /** The interval after which the same work is due again, ms; null: it is due once. */
  everyMillis: Schema.NullOr(Schema.Int)
})
export type VenueDue = typeof VenueDue.Type

export const VenueView = Schema.Struct({
  at: Millis,
  seed: Schema.Int,
  /** The number of the last event. */
  number: Schema.Int,
  /** Wall time of the start of this process, Unix ms. */
  startedAt: Schema.Int,
  readers: Schema.Struct({ events: Schema.Int, marketData: Schema.Int, subscriptions: Schema.Int }),
  markets: Schema.Array(
    Schema.Struct({
      symbol: Symbol,
      last: Schema.NullOr(DecimalText),
      mark: Schema.NullOr(DecimalText),
      index: Schema.NullOr(DecimalText),
      held: Schema.Array(Schema.Literals(heldPrices)),
      path: Schema.Boolean,
      halted: Schema.Boolean,
      delisted: Schema.Boolean
    })
  ),
  dealers: Schema.Array(
    Schema.Struct({
      name: VenueText,
      mood: Schema.Literals(dealerMoods),
      latencyMillis: Schema.Int,
      validityMillis: Schema.Int
    })
  ),
  faults: Schema.Array(
    Schema.Struct({
      kind: Schema.Literals(everyFault),
      route: Schema.Literals(faultRoutes),
      symbol: Schema.NullOr(Symbol),
      /** Wall time; null: until clear. */
      until: Schema.NullOr(Schema.Int),
      timesLeft: Schema.NullOr(Schema.Int),
      struck: Schema.Int
    })
  ),
  /** The work of clients' accounts that is due next, earliest first, at most 100; a venue of another version omits it. */
  due: Schema.optionalKey(Schema.Array(VenueDue))
})
export type VenueView = typeof VenueView.Type
