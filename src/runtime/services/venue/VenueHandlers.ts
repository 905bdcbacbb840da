/**
 * Every kind of object that calls the venue, with what it does when it hears. A noun joins with the letters of its refs in
 * `machines/venue/venueRefs.ts` and one line here (docs/adding-a-noun.md).
 */
import { Effect } from "effect"
import type { VenueOwner } from "../../../machines/venue/venueRefs.ts"
import type { AccountFact } from "../../../machines/venue/VenueEvent.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import { contractHandler } from "../barrier/contractHears.ts"
import { doubtOrders, heardOfVenue, orderHandler, orderPartsOf } from "../order/orderHears.ts"
import { unnamedVerdict } from "../order/unnamedVerdict.ts"
import type { Directory } from "../partner/Directory.ts"
import type { Unsettled } from "../order/Unsettled.ts"
import { QuoteBoard } from "../rfq/QuoteBoard.ts"
import { rfqHandler } from "../rfq/rfqHears.ts"
import { swapHandler } from "../swap/swapHears.ts"
import { CallAnswers } from "./CallAnswers.ts"
import { probeHandler } from "./probeDecisions.ts"
import type { Unnamed, VenueHandler } from "./VenueHandler.ts"
import type { Verdict } from "./verdict.ts"

/** One for every kind that calls: what is missing does not compile. */
export type VenueHandlers = { readonly [O in VenueOwner]: VenueHandler } & {
  /** Answers whoever waits for the end of a call, in the turn that takes it. */
  readonly answered: (turn: Turn, ref: string) => void
  /** Whether a fact that names no object of ours is possible. The check precedes every booking (A2-97, F14). */
  readonly unnamedVerdict: (turn: Turn, fact: AccountFact) => Verdict
  /**
   * What the venue does in an account by itself, under no name of ours; false when nothing here can follow it, words when they say
   * why.
   */
  readonly unnamed: (turn: Turn, fact: AccountFact, said: Unnamed) => boolean | string
  /** What was said of the turn's client may be lost; null: of anybody. */
  readonly doubted: (turn: Turn | null) => void
}

export const venueHandlers: Effect.Effect<
  VenueHandlers,
  never,
  CallAnswers | Directory | QuoteBoard | RowReads | Unsettled
> = Effect.gen(function* () {
  const orderParts = yield* orderPartsOf
  const parts = { ...orderParts, board: yield* QuoteBoard }
  return {
    venueProbe: probeHandler,
    rfq: rfqHandler(parts),
    barrierContract: contractHandler(parts),
    order: orderHandler(orderParts),
    swap: swapHandler(orderParts),
    answered: (yield* CallAnswers).take,
    unnamedVerdict: (turn, fact) => unnamedVerdict({ turn, ...orderParts }, fact),
    unnamed: (turn, fact, said) => heardOfVenue(turn, orderParts, fact, said),
    doubted: (turn) => (turn === null ? orderParts.unsettled.addAll() : doubtOrders(turn, orderParts))
  }
})
