/**
 * The handlers of every durable timer of a client, by name: retention of documents, cooling periods, windows of
 * requests, expiries of contracts, takes and maturities of swaps, status queries of orders, repeated placing of legs,
 * open funding stamps, and decisions of the sandbox.
 */
import { Effect } from "effect"
import { ActorHost } from "../../../engine/mailbox/ActorHost.ts"
import type { HandlerName, SandboxTimer, SystemTimer } from "../../../../machines/timerNames.ts"
import type { TimerHandler } from "../../../engine/timers/Timers.ts"
import { Settings } from "../../../Settings.ts"
import { contractTimers } from "../../trading/contract/contractEvents.ts"
import { Directory } from "../../partners/Directory.ts"
import { expiryHandlers } from "../../clients/document/documentExpiry.ts"
import { retentionHandlers } from "../../clients/document/documentRetention.ts"
import { retakeHandlers } from "../../clients/appropriateness/retakeNotice.ts"
import { fundingTimers } from "../../trading/funding/fundingBooking.ts"
import { orderTimers } from "../../trading/order/statusQueries.ts"
import { protectionTimers } from "../../trading/order/protection.ts"
import { OutOfSync } from "../../venue/OutOfSync.ts"
import { swapTimers } from "../../trading/swap/swapEvents.ts"
import { misfitTimers } from "../../venue/misfits.ts"
import { MisfitReads } from "../../venue/MisfitReads.ts"
import { VenueLink } from "../../venue/VenueLink.ts"
import { sandboxHandlers } from "./sandboxDecisions.ts"

/** A handler for every client timer that machines and services may set. Only the sandbox's handlers are optional. */
type ClientTimers = { readonly [N in Exclude<HandlerName, SandboxTimer | SystemTimer>]: TimerHandler } & {
  readonly [N in SandboxTimer]?: TimerHandler
}

export const clientTimers: Effect.Effect<
  ClientTimers,
  never,
  ActorHost | Directory | MisfitReads | Settings | OutOfSync | VenueLink
> = Effect.gen(function* () {
  const directory = yield* Directory
  const { sandbox } = yield* Settings
  const unsettled = yield* OutOfSync
  return {
    ...expiryHandlers(directory),
    ...retentionHandlers,
    ...retakeHandlers(directory),
    ...contractTimers,
    ...orderTimers({ directory, unsettled }),
    ...protectionTimers,
    ...swapTimers(yield* VenueLink),
    ...fundingTimers({ directory, unsettled }),
    ...misfitTimers(yield* MisfitReads),
    ...(sandbox ? sandboxHandlers(directory, yield* ActorHost) : {})
  }
})
