/** Every durable timer that lies with a client, by name: the end of documents, cooling periods, and what the sandbox decides. */
import { Effect } from "effect"
import { ActorHost } from "../../engine/mailbox/ActorHost.ts"
import type { TimerHandlers } from "../../engine/timers/Timers.ts"
import { Settings } from "../../Settings.ts"
import { Directory } from "../partner/Directory.ts"
import { expiryHandlers } from "../document/documentExpiry.ts"
import { retentionHandlers } from "../document/documentRetention.ts"
import { retakeHandlers } from "../appropriateness/retakeNotice.ts"
import { sandboxHandlers } from "./sandboxDecisions.ts"

export const clientTimers: Effect.Effect<TimerHandlers, never, ActorHost | Directory | Settings> = Effect.gen(
  function* () {
    const directory = yield* Directory
    const { sandbox } = yield* Settings
    return {
      ...expiryHandlers(directory),
      ...retentionHandlers,
      ...retakeHandlers(directory),
      ...(sandbox ? sandboxHandlers(directory, yield* ActorHost) : {})
    }
  }
)
