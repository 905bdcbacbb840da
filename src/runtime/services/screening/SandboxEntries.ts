/**
 * The sandbox's own entries of the watch list: written once, when a sandbox service finds one missing, and never by
 * any other service. They are stored beside the operator's entries, so that a case can name the entry that caused it
 * (F26).
 */
import { Effect, Layer } from "effect"
import { sandboxEntries, sandboxSource } from "../../../machines/sandbox/sandboxNames.ts"
import { ActorHost, type Attribution } from "../../engine/mailbox/ActorHost.ts"
import { applyEffects } from "../../effects/Interpreter.ts"
import { Settings } from "../../Settings.ts"
import { systemInstance, systemSubject } from "../shared/OperatorCaller.ts"
import { RowReads } from "../../ports/RowReads.ts"
import { Screening } from "./Screening.ts"

const by: Attribution = { role: "SYSTEM", keyLabel: "sandbox", requestId: "sandbox", actor: "system:sandbox" }

/** Page size of the read, far above the number of sandbox names, so that one page holds all entries. */
const pageSize = 1_000

/**
 * Writes the missing entries. Needs the live list, so that an added entry counts at once. An entry that an operator
 * removed stays removed.
 */
export const layerSandboxEntries: Layer.Layer<never, never, ActorHost | RowReads | Settings | Screening> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { sandbox } = yield* Settings
      if (!sandbox) return
      const host = yield* ActorHost
      yield* Screening
      const stored = yield* (yield* RowReads).page("watchEntries", [{ column: "source", value: sandboxSource }], {
        limit: pageSize
      })
      const known = new Set(stored.map(({ name }) => name))
      const missing = sandboxEntries.filter(({ name }) => !known.has(name))
      if (missing.length === 0) return
      yield* host.dispatch({
        subject: systemSubject,
        by,
        decide: (turn) => {
          for (const entry of missing) {
            const id = turn.nextId("watchEntry")
            turn.draft.put("watchEntries", {
              id,
              ...entry,
              source: sandboxSource,
              addedAt: turn.now,
              removedAt: null,
              importId: null
            })
            applyEffects(turn, { ...systemInstance, object: `watchEntry:${id}` }, [
              { type: "audit", action: "screening.add", before: null, after: `${entry.list} ${id}`, reason: "sandbox" }
            ])
          }
        }
      })
    }).pipe(Effect.orDie)
  )
