/**
 * Every kind of object that calls the venue, with what it does when it hears. A noun joins with the letters of its refs in
 * `machines/venue/venueRefs.ts` and one line here (docs/adding-a-noun.md).
 */
import { Effect } from "effect"
import type { VenueOwner } from "../../../machines/venue/venueRefs.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../ports/RowReads.ts"
import { contractHandler } from "../barrier/contractHears.ts"
import { orderHandler } from "../order/orderHears.ts"
import { Directory } from "../partner/Directory.ts"
import { QuoteBoard } from "../rfq/QuoteBoard.ts"
import { rfqHandler } from "../rfq/rfqHears.ts"
import { Recall } from "../shared/Recall.ts"
import { CallAnswers } from "./CallAnswers.ts"
import { probeHandler } from "./probeDecisions.ts"
import type { VenueHandler } from "./VenueHandler.ts"

/** One for every kind that calls: what is missing does not compile. */
export type VenueHandlers = { readonly [O in VenueOwner]: VenueHandler } & {
  /** Answers whoever waits for the end of a call, in the turn that takes it. */
  readonly answered: (turn: Turn, ref: string) => void
}

export const venueHandlers: Effect.Effect<VenueHandlers, never, CallAnswers | Directory | QuoteBoard | RowReads> =
  Effect.gen(function* () {
    const parts = { directory: yield* Directory, recall: new Recall(yield* RowReads), board: yield* QuoteBoard }
    return {
      venueProbe: probeHandler,
      rfq: rfqHandler(parts),
      barrierContract: contractHandler(parts),
      order: orderHandler,
      answered: (yield* CallAnswers).take
    }
  })
