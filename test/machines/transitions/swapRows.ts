/** Staking swaps as literal rows (D8). */
import { rowsOf } from "./TransitionRow.ts"
import type { SwapEvent } from "../../../src/machines/swap/Swap.ts"
import {
  doubted,
  named,
  paidAll,
  paidFinal,
  paidPart,
  swapInput,
  took,
  tookUnnamed
} from "../../../src/machines/swap/swapSamples.ts"

const row = rowsOf<SwapEvent>(swapInput)

const maturity = 604_800_105
const refused: SwapEvent = { type: "REFUSED", at: 110, reason: "unknown offer" }
const missed: SwapEvent = { type: "MISSED", at: 110, releaseAt: 300_110 }
const released: SwapEvent = { type: "RELEASE", at: 300_110 }
const fee: SwapEvent = { type: "FEE", at: 120, correctionId: 1, fee: "0.00400000" }
const short: SwapEvent = { type: "SHORT", at: maturity }
const overdue: SwapEvent = { type: "OVERDUE", at: maturity + 3_600_000 }
const delisted: SwapEvent = { type: "DELISTED", at: 700 }
const rest: SwapEvent = { ...paidAll, paymentId: 4, amount: "6.00767123" } as SwapEvent
const more: SwapEvent = { ...paidAll, paymentId: 5, amount: "1.00000000" } as SwapEvent
const writeOff = (amount: string): SwapEvent => ({
  type: "WRITE_OFF",
  at: maturity + 9,
  amount,
  reason: "the writer is insolvent"
})

const settle = "ledger.post SWAP_SETTLE"
const commission = "ledger.post COMMISSION"
const ends = ["notify SWAP_SETTLED", "timer.clear swap.overdue:1", "audit swap.end"]
const endsLate = ["notify SWAP_SETTLED", "audit swap.end"]
const defaults = ["notify SWAP_DEFAULTED", "timer.clear swap.overdue:1", "audit swap.default"]
const opens = [
  "ledger.post SWAP_PRINCIPAL",
  "timer.clear swap.release:1",
  "timer.set swap.overdue:1",
  "audit swap.open"
]
const rejects = ["ledger.post SWAP_RELEASE", "timer.clear swap.release:1", "audit swap.reject"]
const finds = ["ledger.post SWAP_RESERVE", "ledger.post SWAP_PRINCIPAL", "timer.set swap.overdue:1", "audit swap.found"]

/** A take of less than was requested: the surplus of the hold is released. */
const tookLess: SwapEvent = { ...took, notional: "9.00000000", reward: "0.00690410" } as SwapEvent

export const swapRows = [
  row("D8: ACCEPTING, venue took", "ACCEPTING", [], took, "OPEN", opens, {
    contractId: 9,
    tradeId: 77,
    maturityTs: maturity
  }),
  row("D8: ACCEPTING, venue took less", "ACCEPTING", [], tookLess, "OPEN", ["ledger.post SWAP_RELEASE", ...opens], {
    notional: "9.00000000"
  }),
  row("D8: ACCEPTING, venue refused", "ACCEPTING", [], refused, "REJECTED", rejects, {
    rejectReason: "unknown offer"
  }),
  row("D8: ACCEPTING, unknown to the venue", "ACCEPTING", [], missed, "ACCEPTING", [
    "timer.set swap.release:1",
    "audit swap.missed"
  ]),
  row("D8: ACCEPTING, unknown to the venue 300 s", "ACCEPTING", [missed], released, "REJECTED", [
    "ledger.post SWAP_RELEASE",
    "timer.clear swap.release:1",
    "audit swap.reject"
  ]),
  row("D8: ACCEPTING, nothing can be paid yet", "ACCEPTING", [], paidAll, "refused"),
  row("D8: REJECTED, found executed later", "REJECTED", [refused], took, "OPEN", finds, { rejectReason: null }),
  row("D8: REJECTED, no second release", "REJECTED", [refused], released, "refused"),
  row("D8: OPEN, fee differs", "OPEN", [took], fee, "OPEN", ["ledger.post SWAP_FEE_ADJUST"], {
    fee: "0.00400000",
    corrections: [1]
  }),
  row("D8: OPEN, what can't be is said", "OPEN", [took], doubted, "OPEN", [], { doubts: ["contract 12"] }),
  row("D8: OPEN, and said again", "OPEN", [took, doubted], doubted, "refused"),
  row("D8: DEFAULTED, what can't be is said", "DEFAULTED", [took, short], doubted, "DEFAULTED"),
  row("D8: MATURED, what can't be is said", "MATURED", [took, paidAll], doubted, "MATURED"),
  row("D8: CURED, what can't be is said", "CURED", [took, short, paidAll], doubted, "CURED"),
  row(
    "D8: FINAL_SETTLEMENT, what can't be is said",
    "FINAL_SETTLEMENT",
    [took, paidFinal],
    doubted,
    "FINAL_SETTLEMENT"
  ),
  row("D8: OPEN, the same correction again", "OPEN", [took, fee], fee, "refused"),
  row("D8: OPEN, paid in full", "OPEN", [took], paidAll, "MATURED", [settle, commission, ...ends], {
    paid: "10.00767123",
    commission: "0.00076712",
    settleReason: "matured",
    closedTs: maturity
  }),
  row("D8: OPEN, payment, still short", "OPEN", [took], paidPart, "OPEN", [settle], { paid: "4.00000000" }),
  row("D8: OPEN, the same payment again", "OPEN", [took, paidPart], paidPart, "refused"),
  row("D8: OPEN, the rest of it", "OPEN", [took, paidPart], rest, "MATURED", [settle, commission, ...ends]),
  row("D8: OPEN, short at maturity", "OPEN", [took, paidPart], short, "DEFAULTED", defaults, {
    settleReason: "default",
    closedTs: null,
    recovered: "0"
  }),
  row("D8: OPEN, short before maturity is no default", "OPEN", [took], { type: "SHORT", at: 200 }, "refused"),
  row("D8: OPEN, maturity + 1 h", "OPEN", [took], overdue, "DEFAULTED", defaults),
  row("D8: OPEN, delisted, its last payment", "OPEN", [took], paidFinal, "FINAL_SETTLEMENT", [settle, ...ends], {
    settleReason: "finalSettlement"
  }),
  row("D8: OPEN, delisted, nothing paid", "OPEN", [took], delisted, "FINAL_SETTLEMENT", ends),
  row("D8: DEFAULTED, payment, still short", "DEFAULTED", [took, short], paidPart, "DEFAULTED", [settle], {
    recovered: "4.00000000"
  }),
  row("D8: DEFAULTED, payment, complete", "DEFAULTED", [took, short], paidAll, "CURED", [
    settle,
    commission,
    ...endsLate
  ]),
  row("D8: DEFAULTED, delisted", "DEFAULTED", [took, short], paidFinal, "FINAL_SETTLEMENT", [settle, ...endsLate]),
  row("D8: DEFAULTED, delisted, nothing paid", "DEFAULTED", [took, short], delisted, "FINAL_SETTLEMENT", endsLate),
  row("D8: DEFAULTED, write-off of a part", "DEFAULTED", [took, short], writeOff("1.00000000"), "DEFAULTED", [
    "audit swap.writeOff"
  ]),
  row(
    "D8: DEFAULTED, write-off of the whole claim",
    "DEFAULTED",
    [took, paidPart, { ...rest, amount: "6.00500000" } as SwapEvent, short],
    writeOff("0.00267123"),
    "DEFAULTED",
    [commission, "audit swap.writeOff"],
    {
      writtenOff: "0.00267123",
      writeOffs: [{ amount: "0.00267123", at: maturity + 9, paid: "10.00500000" }],
      closedTs: maturity + 9,
      commission: "0.00050000"
    }
  ),
  row("D8: DEFAULTED, no write-off beyond the claim", "DEFAULTED", [took, short], writeOff("11.00000000"), "refused"),
  row(
    "D8: DEFAULTED, payment after a write-off",
    "DEFAULTED",
    [took, short, writeOff("10.00767123")],
    paidPart,
    "DEFAULTED",
    [settle],
    { writtenOff: "6.00767123", closedTs: maturity + 9 }
  ),
  row(
    "D8: DEFAULTED, all of it after a write-off",
    "DEFAULTED",
    [took, short, writeOff("10.00767123")],
    paidAll,
    "CURED",
    [settle, commission, ...endsLate],
    { writtenOff: "0.00000000", settleReason: "cured" }
  ),
  row(
    "D8: payment beyond expectedPayout",
    "OPEN",
    [took],
    { ...paidAll, amount: "11.00000000" } as SwapEvent,
    "MATURED",
    [settle, "audit swap.beyond", commission, ...ends],
    { paid: "11.00000000", commission: "0.00076712" }
  ),
  row("D8: MATURED, payment", "MATURED", [took, paidAll], more, "MATURED", [
    settle,
    "audit swap.beyond",
    "audit swap.latePayment"
  ]),
  row("D8: CURED, payment", "CURED", [took, short, paidAll], more, "CURED", [
    settle,
    "audit swap.beyond",
    "audit swap.latePayment"
  ]),
  row("D8: FINAL_SETTLEMENT, payment", "FINAL_SETTLEMENT", [took, paidFinal], rest, "FINAL_SETTLEMENT", [
    settle,
    commission,
    "audit swap.latePayment"
  ]),
  row("D8: MATURED, fee differs", "MATURED", [took, paidAll], fee, "MATURED", ["ledger.post SWAP_FEE_ADJUST"]),
  row("D8: CURED, fee differs", "CURED", [took, short, paidAll], fee, "CURED", ["ledger.post SWAP_FEE_ADJUST"]),
  row("D8: FINAL_SETTLEMENT, fee differs", "FINAL_SETTLEMENT", [took, paidFinal], fee, "FINAL_SETTLEMENT", [
    "ledger.post SWAP_FEE_ADJUST"
  ]),
  row(
    "A2-116: OPEN by staff's word, named by the venue",
    "OPEN",
    [tookUnnamed],
    named,
    "OPEN",
    ["timer.set swap.overdue:1"],
    {
      contractId: 9,
      maturityTs: 604_800_106
    }
  ),
  row("A2-116: OPEN, named once", "OPEN", [took], named, "refused"),
  row("A2-116: DEFAULTED, named by the venue", "DEFAULTED", [tookUnnamed, short], named, "DEFAULTED", [], {
    contractId: 9
  }),
  row("A2-116: MATURED, named by the venue", "MATURED", [tookUnnamed, paidAll], named, "MATURED"),
  row("A2-116: CURED, named by the venue", "CURED", [tookUnnamed, short, paidAll], named, "CURED"),
  row(
    "A2-116: FINAL_SETTLEMENT, named by the venue",
    "FINAL_SETTLEMENT",
    [tookUnnamed, paidFinal],
    named,
    "FINAL_SETTLEMENT"
  ),
  row("D8: DEFAULTED, fee differs", "DEFAULTED", [took, short], fee, "DEFAULTED", ["ledger.post SWAP_FEE_ADJUST"])
]
