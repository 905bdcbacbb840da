/**
 * A knock-out contract: it opens with its commission and ends once, when the venue reports the end, with one BARRIER_SETTLE of
 * its result. A second end is refused. The service never settles a contract by itself (D5).
 */
import { setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import {
  type ContractContext,
  type ContractEvent,
  type ContractInput,
  closeReasonOf,
  expirySoonMillis,
  type Level,
  overdueMillis,
  tearUpRef
} from "./Contract.ts"
import type { ContractEnd } from "./contractFigures.ts"

const contract = setup({
  types: {
    context: {} as ContractContext,
    events: {} as ContractEvent,
    emitted: {} as MachineEffect,
    input: {} as ContractInput
  },
  guards: {
    canTear: ({ context, event }) => event.type === "TEAR_UP" && !context.tearing && event.attempt > context.tearUps,
    tearing: ({ context }) => context.tearing
  }
})

const charge = contract.emit(({ context: { contractId, symbol, commission } }) => ({
  type: "ledger.post",
  entry: "COMMISSION",
  key: `commission:contract:${contractId}`,
  currency: "USDC",
  amount: `-${commission}`,
  reason: null,
  refs: { contractId, symbol }
}))

const settle = contract.emit(({ context: { contractId, symbol, pnl, closeReason, settlePrice } }) => ({
  type: "ledger.post",
  entry: "BARRIER_SETTLE",
  key: `settle:${contractId}`,
  currency: "USDC",
  amount: pnl ?? "0",
  reason: null,
  refs: { contractId, symbol, reason: closeReason, settlePrice }
}))

const notice = (
  kind: "BARRIER_OPENED" | "BARRIER_SETTLED" | "BARRIER_EXPIRY_SOON" | "BARRIER_NEAR_KO" | "BARRIER_NEAR_TP"
) => contract.emit(({ context: { contractId } }) => ({ type: "notify", kind, ref: String(contractId) }))

const warnOfExpiry = contract.emit(({ context: { contractId, openedAt, expiryTs } }) => ({
  type: "timer.set",
  name: `contract.expirySoon:${contractId}`,
  at: Math.max(openedAt, expiryTs - expirySoonMillis)
}))
const missExpiry = contract.emit(({ context: { contractId, expiryTs } }) => ({
  type: "timer.set",
  name: `contract.overdue:${contractId}`,
  at: expiryTs + overdueMillis
}))
const missAgain = contract.emit(({ context: { contractId, expiryTs }, event }) => ({
  type: "timer.set",
  name: `contract.overdue:${contractId}`,
  at: event.type === "OVERDUE" ? event.askAgainAt : expiryTs + overdueMillis
}))
const noWarning = contract.emit(({ context: { contractId } }) => ({
  type: "timer.clear",
  name: `contract.expirySoon:${contractId}`
}))
const noMiss = contract.emit(({ context: { contractId } }) => ({
  type: "timer.clear",
  name: `contract.overdue:${contractId}`
}))

const tear = contract.emit(({ context: { contractId, account, venueContractId, tearUps } }) => ({
  type: "venue.call",
  call: { name: "tearUp", request: { ref: tearUpRef(contractId, tearUps), account, contractId: venueContractId } }
}))

const note = (action: string, before: string | null, after: string) =>
  contract.emit(({ event }) => ({
    type: "audit",
    action,
    before,
    after,
    reason: "reason" in event ? event.reason : null
  }))

const closeRequested = contract.assign(({ event }) =>
  event.type === "CLOSE_REQUESTED" ? { closeRfqId: event.closeRfqId } : {}
)
const tearing = contract.assign(({ event }) =>
  event.type === "TEAR_UP" ? { tearing: true, tearUps: event.attempt } : {}
)
const notTorn = contract.assign(({ context, event }) =>
  event.type === "TEAR_UP_FAILED" ? { tearing: false, isTearUpLost: context.isTearUpLost || event.isLost } : {}
)
const noticed = (level: Level) =>
  contract.assign(({ context }) => ({ said: [...context.said.filter((each) => each !== level), level] }))

const endsAs = (state: ContractEnd) => {
  const ended = contract.assign(({ event }) =>
    event.type === state
      ? {
          closedAt: event.at,
          settlePrice: event.settlePrice,
          pnl: event.pnl,
          closeReason: closeReasonOf[state],
          tearing: false
        }
      : {}
  )
  return {
    target: state,
    actions: [ended, settle, notice("BARRIER_SETTLED"), noWarning, noMiss, note("contract.end", "OPEN", state)]
  } as const
}

export const contractMachine = contract.createMachine({
  id: "barrierContract",
  version: "2",
  context: ({ input }) => ({
    ...input,
    closedAt: null,
    settlePrice: null,
    pnl: null,
    closeReason: null,
    closeRfqId: null,
    tearing: false,
    tearUps: 0,
    isTearUpLost: false,
    said: []
  }),
  initial: "OPEN",
  states: {
    OPEN: {
      description: "Open. Only a report of the venue ends it.",
      entry: [charge, notice("BARRIER_OPENED"), warnOfExpiry, missExpiry, note("contract.open", null, "OPEN")],
      on: {
        KNOCKED_OUT: endsAs("KNOCKED_OUT"),
        TAKE_PROFIT: endsAs("TAKE_PROFIT"),
        EXPIRED: endsAs("EXPIRED"),
        EARLY_CLOSE: endsAs("EARLY_CLOSE"),
        TORN_UP: endsAs("TORN_UP"),
        CLOSED: endsAs("CLOSED"),
        CLOSE_REQUESTED: { actions: closeRequested },
        TEAR_UP: { guard: "canTear", actions: [tearing, tear, note("contract.tearUp", "OPEN", "OPEN")] },
        TEAR_UP_FAILED: { guard: "tearing", actions: [notTorn, note("contract.tearUpFailed", "OPEN", "OPEN")] },
        NEAR_KO: { actions: [noticed("BARRIER"), notice("BARRIER_NEAR_KO")] },
        NEAR_TP: { actions: [noticed("TAKE_PROFIT"), notice("BARRIER_NEAR_TP")] },
        EXPIRY_SOON: { actions: notice("BARRIER_EXPIRY_SOON") },
        OVERDUE: { actions: [missAgain, note("contract.overdue", "OPEN", "OPEN")] },
        UNKNOWN_AT_VENUE: { actions: note("contract.unknownAtVenue", "OPEN", "OPEN") }
      }
    },
    KNOCKED_OUT: { type: "final", description: "The mark touched the barrier: the premium is lost." },
    TAKE_PROFIT: { type: "final", description: "The mark touched the take profit: the potential profit is paid." },
    EXPIRED: { type: "final", description: "It reached its expiry." },
    EARLY_CLOSE: { type: "final", description: "A quote to close it was executed." },
    TORN_UP: { type: "final", description: "The venue ended it at the mark, by a close-out." },
    CLOSED: { type: "final", description: "Settled with its market, or by staff because the venue does not know it." }
  }
})
