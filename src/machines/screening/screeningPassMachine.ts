/**
 * A pass over the stored clients. The cursor moves only past clients whose result is stored, so an interrupted pass continues
 * where it stopped and skips no client (operator surface, screening passes; F26).
 */
import { assertEvent, setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import type {
  ScreeningPassContext,
  ScreeningPassEvent,
  ScreeningPassInput,
  ScreeningPassState
} from "./ScreeningPass.ts"
import { plural } from "../shared/Text.ts"

const pass = setup({
  types: {
    context: {} as ScreeningPassContext,
    events: {} as ScreeningPassEvent,
    emitted: {} as MachineEffect,
    input: {} as ScreeningPassInput
  },
  guards: {
    goesOn: ({ event, context }) => {
      assertEvent(event, "ADVANCE")
      return event.after > context.after && event.screened > 0
    },
    isPartial: ({ context }) => context.scope === "CHANGES"
  }
})

const advance = pass.assign(({ context, event }) => {
  assertEvent(event, "ADVANCE")
  return { after: event.after, screened: context.screened + event.screened }
})

const ended = pass.assign({ endedAt: ({ event }) => event.at })

const note = (action: string, after: ScreeningPassState) =>
  pass.emit(({ context: { screened } }) => ({
    type: "audit",
    action,
    before: "RUNNING",
    after,
    reason: `${plural(screened, "client")} screened`
  }))

export const screeningPassMachine = pass.createMachine({
  id: "screeningPass",
  version: "1",
  context: ({ input }) => ({ ...input, after: 0, screened: 0, endedAt: null }),
  initial: "RUNNING",
  states: {
    RUNNING: {
      description: "Clients are screened again, page by page.",
      entry: pass.emit(({ context: { trigger, scope, fromEntry, toEntry, rules } }) => ({
        type: "audit",
        action: "screening.pass.begin",
        before: null,
        after: "RUNNING",
        reason: `${trigger}: ${scope === "ALL" ? "all entries" : `entries after ${fromEntry}`} to ${toEntry}, rules ${rules}`
      })),
      on: {
        ADVANCE: { guard: "goesOn", actions: advance },
        FINISH: { target: "DONE", actions: [ended, note("screening.pass.finish", "DONE")] },
        SUPERSEDE: {
          guard: "isPartial",
          target: "REPLACED",
          actions: [ended, note("screening.pass.replace", "REPLACED")]
        }
      }
    },
    DONE: { type: "final", description: "Every client that there was has been screened." },
    REPLACED: { type: "final", description: "A pass over all entries began before this one was done." }
  }
})
