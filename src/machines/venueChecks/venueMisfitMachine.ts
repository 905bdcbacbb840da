/**
 * A misfit. Its object is read again with growing pauses. If no answer fits, the misfit stands, and its break pauses the
 * client's money; the object is then read less often. A fitting answer ends the misfit in either state (A2-115).
 */
import { setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import {
  readPauses,
  standingPauseMillis,
  unreadAfterMillis,
  type VenueMisfitContext,
  type VenueMisfitEvent,
  type VenueMisfitInput,
  type VenueMisfitState
} from "./VenueMisfit.ts"

const misfit = setup({
  types: {
    context: {} as VenueMisfitContext,
    events: {} as VenueMisfitEvent,
    emitted: {} as MachineEffect,
    input: {} as VenueMisfitInput
  },
  guards: {
    isLastRead: ({ context: { isAwaited, reads } }) => isAwaited && reads + 1 >= readPauses.length,
    isAwaited: ({ context }) => context.isAwaited
  }
})

const note = (action: string, before: VenueMisfitState | null, after: VenueMisfitState) =>
  misfit.emit(({ context: { ref, reason } }) => ({
    type: "audit",
    action: `venueMisfit.${action}`,
    before,
    after,
    reason: `${ref}: ${reason}`
  }))

const setTimer = (
  dueAt: (parts: { readonly context: VenueMisfitContext; readonly event: VenueMisfitEvent }) => number
) =>
  misfit.emit(({ context, event }) => ({
    type: "timer.set",
    name: `venue.misfit:${context.misfitId}`,
    at: dueAt({ context, event })
  }))
const pauseAfter = (reads: number): number => readPauses[reads] ?? unreadAfterMillis
const timeOf = (event: VenueMisfitEvent, { at }: VenueMisfitContext): number => ("at" in event ? event.at : at)

const setFirstTimer = setTimer(({ context }) => context.at + pauseAfter(0))
const setNextTimer = setTimer(({ context, event }) => timeOf(event, context) + pauseAfter(context.reads))
const setRetryTimer = setTimer(({ context, event }) => timeOf(event, context) + unreadAfterMillis)
const setStandingTimer = setTimer(({ context, event }) => timeOf(event, context) + standingPauseMillis)
const clearTimer = misfit.emit(({ context: { misfitId } }) => ({
  type: "timer.clear",
  name: `venue.misfit:${misfitId}`
}))

const expectAnswer = misfit.assign({ isAwaited: true })
const takeReason = misfit.assign(({ event }) => (event.type === "UNFIT" ? { reason: event.reason } : {}))
const count = misfit.assign(({ context, event }) =>
  event.type === "UNFIT" ? { reads: context.reads + 1, reason: event.reason, isAwaited: false } : {}
)

export const venueMisfitMachine = misfit.createMachine({
  id: "venueMisfit",
  version: "2",
  context: ({ input }) => ({ ...input, reads: 0, isAwaited: false }),
  initial: "READING",
  states: {
    READING: {
      description: "Nothing of the report is booked, and the object is read again with growing pauses.",
      entry: [note("begin", null, "READING"), setFirstTimer],
      on: {
        READ: { actions: [expectAnswer, setRetryTimer] },
        UNFIT: [
          {
            guard: "isLastRead",
            target: "STANDING",
            actions: [count, note("stand", "READING", "STANDING"), setStandingTimer]
          },
          { guard: "isAwaited", actions: [count, setNextTimer] },
          { actions: takeReason }
        ],
        FIT: { target: "ENDED", actions: [note("end", "READING", "ENDED"), clearTimer] }
      }
    },
    STANDING: {
      description: "No answer fits: a break pauses the client's money. The object is read again every ten minutes.",
      on: {
        READ: { actions: setStandingTimer },
        FIT: { target: "ENDED", actions: [note("end", "STANDING", "ENDED"), clearTimer] }
      }
    },
    ENDED: { type: "final", description: "The venue's answer fits. An open break stays with staff." }
  }
})
