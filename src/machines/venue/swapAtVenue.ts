/** Staking swaps at the venue: a part of a writer's offer that an account has taken (A2-95, D8). */
import { Effect, Schema } from "effect"
import { DecimalText, Millis, Ref, Symbol, VenueId } from "./values.ts"

export const VenuePayment = Schema.Struct({ id: VenueId, amount: DecimalText, at: Millis })

/** Sets another taker fee from `at` on; each correction has its own id. */
export const VenueFeeCorrection = Schema.Struct({ id: VenueId, fee: DecimalText, at: Millis })

/** Limit of the payments, and of the corrections, of one swap. */
const swapPartsAtMost = 1_000

/** Amounts are decimal strings in the market's asset. */
export const VenueSwap = Schema.Struct({
  id: VenueId,
  ref: Ref,
  account: Ref,
  symbol: Symbol,
  offerId: VenueId,
  tradeId: VenueId,
  notional: DecimalText,
  rateBps: Schema.Int,
  tenorDays: Schema.Int,
  reward: DecimalText,
  fee: DecimalText,
  openedAt: Millis,
  maturityAt: Millis,
  /** In the order of creation; empty when the venue reports none. */
  corrections: Schema.Array(VenueFeeCorrection)
    .check(Schema.isMaxLength(swapPartsAtMost))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  payments: Schema.Array(VenuePayment).check(Schema.isMaxLength(swapPartsAtMost)),
  /** True when the writer has reported at maturity that it can't pay everything. */
  short: Schema.Boolean,
  end: Schema.NullOr(Schema.Literals(["PAID", "FINAL_SETTLEMENT"]))
})
export type VenueSwap = typeof VenueSwap.Type

export const swapAtVenue = {
  object: VenueSwap,
  letters: "S",
  list: "swaps",
  write: "take",
  isRequired: true,
  calls: { takeOffer: Schema.Struct({ ref: Ref, account: Ref, offerId: VenueId, qty: DecimalText }) }
} as const
