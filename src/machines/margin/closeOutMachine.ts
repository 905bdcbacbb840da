/**
 * A close-out episode. `services/margin/riskDecisions.ts` sends its events in the client's turns. The episode includes
 * exposure that opens while it is live, and ends also when another cause closes the last exposure. A shortfall is written off
 * once. Money that returns from a withdrawal or swap older than the write-off repays it, even after the end
 * (`services/money/writeOffRepayment.ts`; F9, F10; D23).
 */
import { setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import { amountPlus, minorOf } from "../shared/Money.ts"
import { type CloseOutContext, type CloseOutEvent, type CloseOutInput, closeOutName, unrepaidOf } from "./CloseOut.ts"

const nothing = "0.000000"

const closeOut = setup({
  types: {
    context: {} as CloseOutContext,
    events: {} as CloseOutEvent,
    emitted: {} as MachineEffect,
    input: {} as CloseOutInput
  },
  guards: {
    unprotected: ({ context }) => context.writtenOff === nothing,
    owed: ({ context, event }) => event.type === "REPAY" && isOwed(context, minorOf(event.amount, "USDC")),
    noMark: ({ event }) => event.type === "WAIT" && event.missing === "MARK",
    noMarket: ({ event }) => event.type === "WAIT" && event.missing === "MARKET"
  }
})

const isOwed = (context: CloseOutContext, amount: bigint): boolean => amount > 0n && amount <= unrepaidOf(context)

/** Writes the audit entry of a step, with its figures or its reason. */
const note = (action: string) =>
  closeOut.emit(({ event }) => ({
    type: "audit",
    action,
    before: null,
    after: null,
    reason: "reason" in event ? event.reason : null
  }))
const ended = closeOut.emit(({ event }) => ({
  type: "audit",
  action: "closeout.end",
  before: null,
  after: "DONE",
  reason: event.type === "END" && event.recovered ? "recovered" : null
}))

const writeOff = closeOut.emit(({ context: { closeOutId, startedAt, writtenOff } }) => ({
  type: "ledger.post",
  entry: "NBP_WRITEOFF",
  key: `nbp:${closeOutId}`,
  currency: "USDC",
  amount: writtenOff,
  reason: null,
  refs: { episodeId: closeOutName(closeOutId), closedOutAt: startedAt }
}))

/** Reverses the repaid part of the write-off. Each repayment has its own ledger key. */
const repay = closeOut.enqueueActions(({ context, event, enqueue }) => {
  if (event.type !== "REPAY") return
  const { closeOutId, startedAt } = context
  const repayments = context.repayments + 1
  enqueue.assign({ repaid: amountPlus("USDC", context.repaid, event.amount), repayments })
  enqueue.emit({
    type: "ledger.post",
    entry: "NBP_WRITEOFF",
    key: `nbp:${closeOutId}:${repayments}`,
    currency: "USDC",
    amount: `-${event.amount}`,
    reason: null,
    refs: { episodeId: closeOutName(closeOutId), closedOutAt: startedAt, ...event.refs }
  })
})

const cancelling = closeOut.assign(({ event }) => (event.type === "CANCEL" ? { cancelUntil: event.until } : {}))
const tearing = closeOut.assign(({ event }) =>
  event.type === "TEAR_UP" ? { tornAt: event.at, contracts: event.contracts } : {}
)
const closing = closeOut.assign(({ event }) =>
  event.type === "CLOSE" ? { orders: event.orders, lastOrderId: event.orderId, tried: event.tried } : {}
)
const protectedBy = closeOut.assign(({ event }) =>
  event.type === "WRITE_OFF" ? { writtenOff: event.amount, behind: event.behind } : {}
)
const over = closeOut.assign(({ event }) => (event.type === "END" ? { endedAt: event.at } : {}))

const end = { target: "DONE", actions: [over, ended] } as const
const tearUp = { target: "TEARING_UP", actions: [tearing, note("closeout.tearUp")] } as const
const close = { target: "CLOSING", actions: [closing, note("closeout.close")] } as const
/** Clears the earlier attempts of a waiting episode, so that it sends an order at once when the market reopens. */
const untried = closeOut.assign({ tried: {} })
const waitForMark = { guard: "noMark", target: "WAITING_MARK", actions: [untried, note("closeout.wait")] } as const
const waitForMarket = { target: "WAITING_MARKET", actions: [untried, note("closeout.wait")] } as const
const wait = [waitForMark, waitForMarket] as const
/**
 * Records the wider distance, and clears the earlier attempts: the episode retries at once the orders that failed nearer to
 * the mark.
 */
const widened = closeOut.assign(({ event }) => (event.type === "WIDEN" ? { widenedBps: event.bps, tried: {} } : {}))
const widen = { WIDEN: { actions: [widened, note("closeout.widen")] } } as const
const protect = { target: "PROTECTING", actions: note("closeout.protect") } as const

export const closeOutMachine = closeOut.createMachine({
  id: "closeOut",
  version: "5",
  context: ({ input }) => ({
    ...input,
    endedAt: null,
    cancelUntil: null,
    tornAt: null,
    contracts: 0,
    orders: 0,
    lastOrderId: null,
    tried: {},
    widenedBps: 0,
    writtenOff: nothing,
    behind: null,
    repaid: nothing,
    repayments: 0
  }),
  initial: "STARTED",
  states: {
    STARTED: {
      description: "The equity is too low: the account is RESTRICTED by CLOSE_OUT until it is NORMAL again.",
      entry: note("closeout.start"),
      on: {
        CANCEL: { target: "CANCELLING", actions: [cancelling, note("closeout.cancel")] },
        CLOSE: close,
        TEAR_UP: tearUp,
        WAIT: wait,
        PROTECT: protect,
        END: end
      }
    },
    CANCELLING: {
      description:
        "Its requests to open, and orders that could, are being cancelled, for as long as is set at the most.",
      on: { CLOSE: close, TEAR_UP: tearUp, WAIT: wait, PROTECT: protect, END: end }
    },
    CLOSING: {
      description: "Its positions are closed one at a time, that with the largest margin first.",
      on: { CLOSE: { ...close, target: "CLOSING" }, TEAR_UP: tearUp, WAIT: wait, PROTECT: protect, END: end, ...widen }
    },
    WAITING_MARK: {
      description: "No open position or contract has a fresh mark.",
      on: {
        CLOSE: close,
        TEAR_UP: tearUp,
        WAIT: { guard: "noMarket", ...waitForMarket },
        PROTECT: protect,
        END: end,
        ...widen
      }
    },
    WAITING_MARKET: {
      description:
        "Markets with a fresh mark can't be traded: the venue has halted or delisted them, or no order within the bound is on the other side.",
      on: { CLOSE: close, TEAR_UP: tearUp, WAIT: waitForMark, PROTECT: protect, END: end, ...widen }
    },
    TEARING_UP: {
      description: "The venue is requested to end its contracts at the mark.",
      on: { CLOSE: close, TEAR_UP: { ...tearUp, target: "TEARING_UP" }, WAIT: wait, PROTECT: protect, END: end }
    },
    PROTECTING: {
      description: "Nothing is open any more; once the calls in flight have ended, a shortfall is written off.",
      on: {
        CLOSE: close,
        TEAR_UP: tearUp,
        WAIT: wait,
        WRITE_OFF: { guard: "unprotected", actions: [protectedBy, writeOff, note("closeout.writeOff")] },
        END: end
      }
    },
    DONE: {
      description:
        "The account has recovered, or nothing of it is left open. Money that stood behind its write-off repays it.",
      on: { REPAY: { guard: "owed", actions: [repay, note("closeout.repay")] } }
    }
  }
})
