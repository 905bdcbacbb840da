/** Every durable timer that lies with a client, by name: the end of documents, cooling periods, and what the sandbox decides. */
import { Effect } from "effect"
import { ActorHost } from "../engine/ActorHost.ts"
import type { TimerHandlers } from "../engine/Timers.ts"
import { Settings } from "../Settings.ts"
import { Directory } from "./Directory.ts"
import { expiryHandlers } from "./documentExpiry.ts"
import { retentionHandlers } from "./documentRetention.ts"
import { retakeHandlers } from "./retakeNotice.ts"
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
