/**
 * A staking swap. The commit that sends the take to the venue reserves the highest cost of it. Only the venue's reports open,
 * pay and end the swap, and each payment and correction applies once. A take that is found after the release of its
 * reservation is booked all the same (D8, STS-2).
 */
import { notReceived } from "../venue/venueCalls.ts"
import { setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import { amountPlus, formatAmount, isNothing, minorOf } from "../shared/Money.ts"
import {
  doubtsAtMost,
  overdueMillis,
  progressOfSwap,
  type SettleReason,
  type SwapContext,
  type SwapEvent,
  type SwapInput,
  swapRef,
  termsOfSwap
} from "./Swap.ts"
import {
  afterPayment,
  expectedPayout,
  outstandingOf,
  partsOfPayment,
  rewardCommission,
  rewardReceived
} from "./swapFigures.ts"

/** The amount still expected after a payment. */
const leftAfter = (context: SwapContext, amount: string): bigint =>
  outstandingOf(termsOfSwap(context), afterPayment(progressOfSwap(context), minorOf(amount, context.asset)))

const swap = setup({
  types: {
    context: {} as SwapContext,
    events: {} as SwapEvent,
    emitted: {} as MachineEffect,
    input: {} as SwapInput
  },
  guards: {
    final: ({ context, event }) => event.type === "PAID" && event.final && isNewPayment(context, event.paymentId),
    completes: ({ context, event }) =>
      event.type === "PAID" && isNewPayment(context, event.paymentId) && isComplete(context, event.amount),
    newPayment: ({ context, event }) => event.type === "PAID" && isNewPayment(context, event.paymentId),
    newCorrection: ({ context, event }) =>
      event.type === "FEE" && context.contractId !== null && !context.corrections.includes(event.correctionId),
    unnamed: ({ context, event }) => event.type === "NAMED" && context.contractId === 0,
    newDoubt: ({ context: { doubts }, event }) =>
      event.type === "DOUBT" && doubts.length < doubtsAtMost && !doubts.includes(event.of),
    mature: ({ context, event }) => event.type === "SHORT" && event.at >= (context.maturityTs ?? Infinity),
    withinClaim: ({ context, event }) => event.type === "WRITE_OFF" && isWithinClaim(context, event.amount),
    wholeClaim: ({ context, event }) =>
      event.type === "WRITE_OFF" &&
      isWithinClaim(context, event.amount) &&
      minorOf(event.amount, context.asset) === claimOf(context)
  }
})

const isNewPayment = ({ payments }: SwapContext, paymentId: number): boolean =>
  payments.every(({ id }) => id !== paymentId)
/** Whether a payment completes the expected amount, so that no write-off remains. */
const isComplete = (context: SwapContext, amount: string): boolean => {
  const after = afterPayment(progressOfSwap(context), minorOf(amount, context.asset))
  return after.writtenOff === 0n && leftAfter(context, amount) === 0n
}
const claimOf = (context: SwapContext): bigint => outstandingOf(termsOfSwap(context), progressOfSwap(context))
const isWithinClaim = (context: SwapContext, amount: string): boolean => {
  const minor = minorOf(amount, context.asset)
  return minor > 0n && minor <= claimOf(context)
}

type Entry = "SWAP_RESERVE" | "SWAP_RELEASE" | "SWAP_PRINCIPAL" | "SWAP_SETTLE" | "SWAP_FEE_ADJUST"

const posting = (
  { asset: currency }: SwapContext,
  entry: Entry | "COMMISSION",
  key: string,
  amount: string,
  refs: Extract<MachineEffect, { readonly type: "ledger.post" }>["refs"]
): MachineEffect => ({ type: "ledger.post", entry, key, currency, amount, reason: null, refs })

const reserve = swap.emit(({ context }) => {
  const { swapId, offerId, notional, hold, estimatedFee: fee } = context
  const refs = { swapId, offerId, notional, fee }
  return posting(context, "SWAP_RESERVE", `swapReserve:${swapId}`, `-${hold}`, refs)
})

const take = swap.emit(({ context: { swapId, account, offerId, qty } }): MachineEffect => {
  const request = { ref: swapRef(swapId), account, offerId, qty }
  return { type: "venue.call", call: { name: "takeOffer", request } }
})

const release = swap.emit(({ context }) => {
  const { swapId, offerId, hold } = context
  return posting(context, "SWAP_RELEASE", `swapRelease:${swapId}`, hold, { swapId, offerId })
})

/** Freezes the terms as the venue executed them. */
const taken = swap.assign(({ context, event }) => {
  if (event.type !== "TOOK") return {}
  const { contractId, tradeId, notional, rateBps, tenorDays, reward, openedTs, maturityTs, at } = event
  const qty = minorOf(notional, context.asset) === minorOf(context.notional, context.asset) ? context.qty : notional
  const terms = { contractId, tradeId, qty, notional, rateBps, tenorDays, reward, openedTs, maturityTs }
  return { ...terms, rejectReason: null, ts: at }
})

/**
 * Moves notional and estimated fee from the reserve to the venue. If the reserve is too small (it was released, or the venue
 * took more), the missing amount is reserved first, whatever the balance. A surplus returns to cash.
 */
const principal = (held: "held" | "released") =>
  swap.enqueueActions(({ context, event, enqueue }) => {
    if (event.type !== "TOOK") return
    const { swapId, asset, hold, estimatedFee: fee } = context
    const { contractId, notional } = event
    const cost = amountPlus(asset, notional, fee)
    const lacks = held === "held" ? amountPlus(asset, cost, `-${hold}`) : cost
    const refs = { contractId, swapId, notional, fee }
    if (lacks.startsWith("-")) {
      enqueue.emit(posting(context, "SWAP_RELEASE", `swapRelease:${swapId}:rest`, lacks.slice(1), refs))
    } else if (!isNothing(lacks)) {
      enqueue.emit(posting(context, "SWAP_RESERVE", `swapReserve:${swapId}:late`, `-${lacks}`, refs))
    }
    enqueue.emit(posting(context, "SWAP_PRINCIPAL", `swapPrincipal:${swapId}`, `-${cost}`, refs))
  })

/** Books the difference between the booked and the corrected fee, to or from cash. */
const adjustFee = swap.enqueueActions(({ context, event, enqueue }) => {
  if (event.type !== "FEE") return
  const { swapId, contractId, asset, fee: feeBefore } = context
  const { correctionId, fee, at } = event
  const difference = amountPlus(asset, feeBefore, `-${fee}`)
  enqueue.assign({ fee, corrections: [...context.corrections, correctionId], ts: at })
  if (isNothing(difference)) return
  const refs = { contractId, swapId, correctionId, feeBefore, fee }
  enqueue.emit(posting(context, "SWAP_FEE_ADJUST", `swapFee:${swapId}:${correctionId}`, difference, refs))
})

/** Books a payment. All of it belongs to the client, principal first; an excess over the expected total raises an alarm. */
const pay = swap.enqueueActions(({ context, event, enqueue }) => {
  if (event.type !== "PAID") return
  const { swapId, contractId, symbol, asset, defaultedTs } = context
  const { at, paymentId, amount } = event
  const before = progressOfSwap(context)
  const minor = minorOf(amount, asset)
  const after = afterPayment(before, minor)
  const parts = partsOfPayment(termsOfSwap(context), before, minor)
  enqueue.assign({
    paid: formatAmount(after.paid, asset),
    writtenOff: formatAmount(after.writtenOff, asset),
    recovered: defaultedTs === null ? context.recovered : amountPlus(asset, context.recovered, amount),
    payments: [...context.payments, { id: paymentId, amount, at }],
    ts: at
  })
  if (minor === 0n) return
  const [notional, reward] = [formatAmount(parts.principal, asset), formatAmount(parts.reward, asset)]
  const refs = { contractId, swapId, symbol, asset, paymentId, principal: notional, reward }
  enqueue.emit(posting(context, "SWAP_SETTLE", `swapSettle:${swapId}:${paymentId}`, amount, refs))
  if (parts.beyond === 0n) return
  const reason = `Payment ${paymentId} brings ${formatAmount(parts.beyond, asset)} ${asset} beyond the ${formatAmount(expectedPayout(termsOfSwap(context)), asset)} that were expected.`
  enqueue.emit({ type: "audit", action: "swap.beyond", before: null, after: null, reason })
})

/** Charges the commission on the received reward, less earlier charges. */
const charge = swap.enqueueActions(({ context, enqueue }) => {
  const { swapId, contractId, symbol, asset, commissionRewardBps, settleReason, charges } = context
  const terms = termsOfSwap(context)
  const progress = progressOfSwap(context)
  const due = rewardCommission(terms, progress) - minorOf(context.commission, asset)
  if (due <= 0n) return
  enqueue.assign({ commission: amountPlus(asset, context.commission, formatAmount(due, asset)), charges: charges + 1 })
  const key = charges === 0 ? `commission:swap:${swapId}` : `commission:swap:${swapId}:${charges + 1}`
  const received = formatAmount(rewardReceived(terms, progress), asset)
  const refs = {
    contractId,
    swapId,
    symbol,
    asset,
    rewardReceived: received,
    commissionRewardBps,
    reason: settleReason
  }
  enqueue.emit(posting(context, "COMMISSION", key, `-${formatAmount(due, asset)}`, refs))
})

/** Charges each further payment at once when a default was written off completely. */
const chargeIfClosed = swap.enqueueActions(({ context, enqueue }) => {
  if (context.closedTs !== null) enqueue(charge)
})

const note = (action: string, before: string | null, after: string) =>
  swap.emit(({ event }) => ({
    type: "audit",
    action,
    before,
    after,
    reason: "reason" in event ? event.reason : null
  }))

const notice = (kind: "SWAP_SETTLED" | "SWAP_DEFAULTED") =>
  swap.emit(({ context: { swapId } }) => ({ type: "notify", kind, ref: String(swapId) }))

const awaitRelease = swap.emit(({ context: { swapId, createdAt }, event }) => ({
  type: "timer.set",
  name: `swap.release:${swapId}`,
  at: event.type === "MISSED" ? event.releaseAt : createdAt
}))
const noRelease = swap.emit(({ context: { swapId } }) => ({ type: "timer.clear", name: `swap.release:${swapId}` }))
const missMaturity = swap.emit(({ context: { swapId, createdAt, maturityTs } }) => ({
  type: "timer.set",
  name: `swap.overdue:${swapId}`,
  at: (maturityTs ?? createdAt) + overdueMillis
}))
const noMiss = swap.emit(({ context: { swapId } }) => ({ type: "timer.clear", name: `swap.overdue:${swapId}` }))

const named = swap.assign(({ event }) =>
  event.type === "NAMED"
    ? {
        contractId: event.contractId,
        tradeId: event.tradeId,
        openedTs: event.openedTs,
        maturityTs: event.maturityTs,
        ts: event.at
      }
    : {}
)
/** Records an impossible report once, however often the venue repeats it. */
const doubt = swap.assign(({ context: { doubts }, event }) =>
  event.type === "DOUBT" ? { doubts: [...doubts, event.of] } : {}
)
const touched = swap.assign(({ event }) => ({ ts: event.at }))
const refused = swap.assign(({ event }) => ({
  rejectReason: event.type === "REFUSED" ? event.reason : notReceived,
  ts: event.at
}))
const closed = (settleReason: SettleReason) =>
  swap.assign(({ context, event }) => ({ settleReason, closedTs: context.closedTs ?? event.at, ts: event.at }))
const ended = (settleReason: SettleReason) =>
  swap.assign(({ event }) => ({ settleReason, closedTs: event.at, ts: event.at }))
const defaulted = swap.assign(({ event }) => ({
  settleReason: "default" as const,
  defaultedTs: event.at,
  ts: event.at
}))
const writtenOff = swap.assign(({ context, event }) =>
  event.type === "WRITE_OFF"
    ? {
        writtenOff: amountPlus(context.asset, context.writtenOff, event.amount),
        writeOffs: [...context.writeOffs, { amount: event.amount, at: event.at, paid: context.paid }],
        ts: event.at
      }
    : {}
)

const takes = (before: "ACCEPTING" | "REJECTED") =>
  ({
    target: "OPEN",
    actions: [
      principal(before === "ACCEPTING" ? "held" : "released"),
      taken,
      ...(before === "ACCEPTING" ? [noRelease] : []),
      missMaturity,
      note(before === "ACCEPTING" ? "swap.open" : "swap.found", before, "OPEN")
    ]
  }) as const

const settles = (
  state: "MATURED" | "CURED" | "FINAL_SETTLEMENT",
  reason: SettleReason,
  before: "OPEN" | "DEFAULTED",
  guard?: "final" | "completes"
) =>
  ({
    ...(guard === undefined ? {} : { guard }),
    target: state,
    actions: [
      ...(guard === undefined ? [] : [pay]),
      ended(reason),
      charge,
      notice("SWAP_SETTLED"),
      ...(before === "OPEN" ? [noMiss] : []),
      note("swap.end", before, state)
    ]
  }) as const

const defaults = {
  target: "DEFAULTED",
  actions: [defaulted, notice("SWAP_DEFAULTED"), noMiss, note("swap.default", "OPEN", "DEFAULTED")]
} as const

const corrections = {
  FEE: { guard: "newCorrection", actions: adjustFee },
  NAMED: { guard: "unnamed", actions: named },
  DOUBT: { guard: "newDoubt", actions: doubt }
} as const

/** Transitions of an ended swap: a late payment still belongs to the client, and raises an alarm. */
const after = (state: "MATURED" | "CURED" | "FINAL_SETTLEMENT") =>
  ({
    PAID: { guard: "newPayment", actions: [pay, charge, note("swap.latePayment", state, state)] },
    ...corrections
  }) as const

export const swapMachine = swap.createMachine({
  id: "swap",
  version: "2",
  context: ({ input }) => ({
    ...input,
    contractId: null,
    tradeId: null,
    openedTs: null,
    maturityTs: null,
    defaultedTs: null,
    closedTs: null,
    fee: input?.estimatedFee ?? "0",
    corrections: [],
    payments: [],
    doubts: [],
    paid: "0",
    writtenOff: "0",
    writeOffs: [],
    recovered: "0",
    commission: "0",
    charges: 0,
    settleReason: null,
    rejectReason: null,
    ts: input?.createdAt ?? 0
  }),
  initial: "ACCEPTING",
  states: {
    ACCEPTING: {
      description: "The take is sent to the venue; notional and estimated fee are reserved.",
      entry: [reserve, take, note("swap.take", null, "ACCEPTING")],
      on: {
        TOOK: takes("ACCEPTING"),
        REFUSED: {
          target: "REJECTED",
          actions: [refused, release, noRelease, note("swap.reject", "ACCEPTING", "REJECTED")]
        },
        MISSED: { actions: [touched, awaitRelease, note("swap.missed", "ACCEPTING", "ACCEPTING")] },
        RELEASE: {
          target: "REJECTED",
          actions: [refused, release, noRelease, note("swap.reject", "ACCEPTING", "REJECTED")]
        }
      }
    },
    OPEN: {
      description: "Taken: the writer owes notional and reward at maturity.",
      on: {
        PAID: [
          settles("FINAL_SETTLEMENT", "finalSettlement", "OPEN", "final"),
          settles("MATURED", "matured", "OPEN", "completes"),
          { guard: "newPayment", actions: pay }
        ],
        SHORT: { guard: "mature", ...defaults },
        OVERDUE: defaults,
        DELISTED: settles("FINAL_SETTLEMENT", "finalSettlement", "OPEN"),
        ...corrections,
        NAMED: { guard: "unnamed", actions: [named, missMaturity] }
      }
    },
    DEFAULTED: {
      description: "The writer fell short: what is outstanding is a claim, until it is paid or written off.",
      on: {
        PAID: [
          settles("FINAL_SETTLEMENT", "finalSettlement", "DEFAULTED", "final"),
          settles("CURED", "cured", "DEFAULTED", "completes"),
          { guard: "newPayment", actions: [pay, chargeIfClosed] }
        ],
        DELISTED: settles("FINAL_SETTLEMENT", "finalSettlement", "DEFAULTED"),
        WRITE_OFF: [
          {
            guard: "wholeClaim",
            actions: [writtenOff, closed("default"), charge, note("swap.writeOff", "DEFAULTED", "DEFAULTED")]
          },
          { guard: "withinClaim", actions: [writtenOff, note("swap.writeOff", "DEFAULTED", "DEFAULTED")] }
        ],
        ...corrections
      }
    },
    REJECTED: {
      description: "Not taken: the reserve is released.",
      on: { TOOK: takes("REJECTED") }
    },
    MATURED: { description: "Paid in full at maturity.", on: after("MATURED") },
    CURED: { description: "Paid in full after a default.", on: after("CURED") },
    FINAL_SETTLEMENT: { description: "Settled with its delisted market.", on: after("FINAL_SETTLEMENT") }
  }
})
