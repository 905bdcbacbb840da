/** Trading halt: begins by command, and ends by command or at its end time (A2-11). */
import { setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import { haltTimer, type TradingHaltContext, type TradingHaltEvent, type TradingHaltInput } from "./TradingHalt.ts"

const halt = setup({
  types: {
    context: {} as TradingHaltContext,
    events: {} as TradingHaltEvent,
    emitted: {} as MachineEffect,
    input: {} as TradingHaltInput
  }
})

type HaltTerms = Pick<TradingHaltContext, "scope" | "message" | "until">

/** The audit text of a halt, such as `BTC-USDC-PERP until 1795000000000`. */
const named = ({ scope, until }: HaltTerms): string => (until === null ? scope : `${scope} until ${until}`)

const timerOf = (haltId: number) => `${haltTimer}:${haltId}` as const

/** Sets the durable timer that ends the halt; clears it for a halt without an end time. */
const setEnd = halt.emit(({ context: { haltId, until } }) =>
  until === null
    ? { type: "timer.clear", name: timerOf(haltId) }
    : { type: "timer.set", name: timerOf(haltId), at: until }
)

const begin = halt.enqueueActions(({ context, enqueue }) => {
  if (context.until !== null) enqueue(setEnd)
  enqueue.emit({
    type: "audit",
    action: "market.halt",
    before: null,
    after: named(context),
    reason: context.message
  })
})

const change = halt.enqueueActions(({ context, event, enqueue }) => {
  if (event.type !== "CHANGE") return
  const { message, until } = event
  enqueue.assign({ message, until })
  enqueue(setEnd)
  enqueue.emit({
    type: "audit",
    action: "market.halt",
    before: named(context),
    after: named({ ...context, until }),
    reason: message
  })
})

const ended = halt.assign({ endedAt: ({ event }) => event.at })

const noteEnd = (action: "market.resume" | "market.elapse") =>
  halt.emit(({ context }) => ({ type: "audit", action, before: named(context), after: null, reason: null }))

const forgetEnd = halt.enqueueActions(({ context: { haltId, until }, enqueue }) => {
  if (until !== null) enqueue.emit({ type: "timer.clear", name: timerOf(haltId) })
})

export const tradingHaltMachine = halt.createMachine({
  id: "tradingHalt",
  version: "1",
  context: ({ input }) => ({ ...input, endedAt: null }),
  initial: "ACTIVE",
  states: {
    ACTIVE: {
      description: "Nothing that opens risk is taken in its scope; what rests at the venue stays there.",
      entry: begin,
      on: {
        CHANGE: { actions: change },
        RESUME: { target: "ENDED", actions: [ended, forgetEnd, noteEnd("market.resume")] },
        ELAPSE: { target: "ENDED", actions: [ended, noteEnd("market.elapse")] }
      }
    },
    ENDED: { type: "final", description: "Resumed, or its end has come: its scope trades again." }
  }
})
