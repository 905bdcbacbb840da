/** Close-out episodes as literal rows (F9, F10; D23). */
import { rowsOf } from "./TransitionRow.ts"
import type { CloseOutEvent } from "../../../src/machines/margin/CloseOut.ts"
import { closeOutInput } from "../../../src/machines/margin/closeOutSamples.ts"

const row = rowsOf<CloseOutEvent>(closeOutInput)

const cancel: CloseOutEvent = { type: "CANCEL", until: 2_100 }
const tried = { "BTC-USDC-PERP": { at: 150, pause: 1_000, held: "0.1", step: 0 } }
const close: CloseOutEvent = { type: "CLOSE", orderId: 40, orders: 1, tried, reason: "O-40 SELL 0.1 BTC-USDC-PERP" }
const both = { ...tried, "ETH-USDC-PERP": { at: 160, pause: 1_000, held: "-2", step: 0 } }
const another: CloseOutEvent = { ...close, orderId: 41, orders: 2, tried: both, reason: "O-41 BUY 2 ETH-USDC-PERP" }
const tearUp: CloseOutEvent = { type: "TEAR_UP", at: 200, contracts: 2, reason: "2 contracts" }
const wait: CloseOutEvent = { type: "WAIT", missing: "MARK", reason: "BTC-USDC-PERP has no live price" }
const halted: CloseOutEvent = { type: "WAIT", missing: "MARKET", reason: "BTC-USDC-PERP is halted" }
const widen: CloseOutEvent = { type: "WIDEN", bps: 700, reason: "the book is thin" }
const protect: CloseOutEvent = { type: "PROTECT" }
const writeOff: CloseOutEvent = { type: "WRITE_OFF", amount: "1.500000", behind: { requestId: 8, swapId: 10 } }
const end: CloseOutEvent = { type: "END", at: 300, recovered: false }
const writtenOff = [protect, writeOff, end]
const repay = {
  type: "REPAY",
  amount: "1.000000",
  refs: { requestId: 7 },
  reason: "1.000000 USDC of withdrawal 7"
} as const
const recovered: CloseOutEvent = { ...end, recovered: true }

const closes = ["audit closeout.close"]
const torn = ["audit closeout.tearUp"]
const waits = ["audit closeout.wait"]
const ends = ["audit closeout.end"]
const repays = ["ledger.post NBP_WRITEOFF", "audit closeout.repay"]

export const closeOutRows = [
  row("F9: STARTED, requests to open are cancelled", "STARTED", [], cancel, "CANCELLING", ["audit closeout.cancel"], {
    cancelUntil: 2_100
  }),
  row("F9: STARTED, contracts are torn up", "STARTED", [], tearUp, "TEARING_UP", torn, { contracts: 2, tornAt: 200 }),
  row("F9: STARTED, a position is closed", "STARTED", [], close, "CLOSING", closes, {
    orders: 1,
    lastOrderId: 40,
    tried
  }),
  row("F3: STARTED, no fresh mark", "STARTED", [], wait, "WAITING_MARK", waits),
  row("F9: STARTED, no market trades", "STARTED", [], halted, "WAITING_MARKET", waits),
  row("F10: STARTED, nothing is open", "STARTED", [], protect, "PROTECTING", ["audit closeout.protect"]),
  row(
    "F9: CLOSING, staff let it trade further from the mark",
    "CLOSING",
    [close],
    widen,
    "CLOSING",
    ["audit closeout.widen"],
    {
      widenedBps: 700,
      tried: {}
    }
  ),
  row(
    "F9: WAITING_MARK, staff widen what comes then",
    "WAITING_MARK",
    [wait],
    widen,
    "WAITING_MARK",
    ["audit closeout.widen"],
    {
      widenedBps: 700
    }
  ),
  row(
    "F9: WAITING_MARKET, staff widen what comes then",
    "WAITING_MARKET",
    [halted],
    widen,
    "WAITING_MARKET",
    ["audit closeout.widen"],
    {
      widenedBps: 700
    }
  ),
  row("F9: DONE, nothing is widened any more", "DONE", [recovered], widen, "refused"),
  row("F9: STARTED, recovered", "STARTED", [], recovered, "DONE", ends, { endedAt: 300 }),
  row("F9: CANCELLING, contracts are torn up", "CANCELLING", [cancel], tearUp, "TEARING_UP", torn),
  row("F9: CANCELLING, a position is closed", "CANCELLING", [cancel], close, "CLOSING", closes),
  row("F3: CANCELLING, no fresh mark", "CANCELLING", [cancel], wait, "WAITING_MARK", waits),
  row("F9: CANCELLING, no market trades", "CANCELLING", [cancel], halted, "WAITING_MARKET", waits),
  row("F10: CANCELLING, nothing is open", "CANCELLING", [cancel], protect, "PROTECTING", ["audit closeout.protect"]),
  row("F9: CANCELLING, recovered", "CANCELLING", [cancel], recovered, "DONE", ends),
  row("F9: CANCELLING, cancelled already", "CANCELLING", [cancel], cancel, "refused"),
  row("F9: CLOSING, the next position is closed", "CLOSING", [close], another, "CLOSING", closes, {
    orders: 2,
    lastOrderId: 41,
    tried: both
  }),
  row("F3: CLOSING, no fresh mark is left", "CLOSING", [close], wait, "WAITING_MARK", waits, { tried: {} }),
  row("F9: CLOSING, no market is left that trades", "CLOSING", [close], halted, "WAITING_MARKET", waits, { tried: {} }),
  row(
    "F9: CLOSING, the positions are closed, the contracts are torn up",
    "CLOSING",
    [close],
    tearUp,
    "TEARING_UP",
    torn
  ),
  row("F10: CLOSING, all is closed", "CLOSING", [close], protect, "PROTECTING", ["audit closeout.protect"]),
  row("F9: CLOSING, recovered", "CLOSING", [close], recovered, "DONE", ends),
  row("F9: CLOSING, nothing is cancelled any more", "CLOSING", [close], cancel, "refused"),
  row("F10: CLOSING, nothing is written off before all is closed", "CLOSING", [close], writeOff, "refused"),
  row("F9: WAITING_MARK, a market trades again", "WAITING_MARK", [wait], close, "CLOSING", closes),
  row("F3: WAITING_MARK, a mark is fresh again", "WAITING_MARK", [wait], tearUp, "TEARING_UP", torn),
  row("F10: WAITING_MARK, the contracts ended", "WAITING_MARK", [wait], protect, "PROTECTING", [
    "audit closeout.protect"
  ]),
  row(
    "F9: WAITING_MARK, the mark is fresh, the market does not trade",
    "WAITING_MARK",
    [wait],
    halted,
    "WAITING_MARKET",
    waits
  ),
  row("F3: WAITING_MARK, waited for already", "WAITING_MARK", [wait], wait, "refused"),
  row("F9: WAITING_MARKET, it trades again", "WAITING_MARKET", [halted], close, "CLOSING", closes),
  row(
    "F9: WAITING_MARKET, the position is gone, the contracts are torn up",
    "WAITING_MARKET",
    [halted],
    tearUp,
    "TEARING_UP",
    torn
  ),
  row("F3: WAITING_MARKET, its mark goes stale", "WAITING_MARKET", [halted], wait, "WAITING_MARK", waits),
  row("F9: WAITING_MARKET, waited for already", "WAITING_MARKET", [halted], halted, "refused"),
  row("F10: WAITING_MARKET, the client closed it", "WAITING_MARKET", [halted], protect, "PROTECTING", [
    "audit closeout.protect"
  ]),
  row("F9: WAITING_MARKET, recovered", "WAITING_MARKET", [halted], recovered, "DONE", ends),
  row("F9: WAITING_MARK, recovered", "WAITING_MARK", [wait], recovered, "DONE", ends),
  row(
    "F9: TEARING_UP, what opened meanwhile joins",
    "TEARING_UP",
    [tearUp],
    { ...tearUp, at: 1_300, contracts: 3 },
    "TEARING_UP",
    torn,
    { contracts: 3, tornAt: 1_300 }
  ),
  row("F9: TEARING_UP, a position that opened meanwhile joins", "TEARING_UP", [tearUp], close, "CLOSING", closes),
  row("F3: TEARING_UP, the marks have gone stale", "TEARING_UP", [tearUp], wait, "WAITING_MARK", [
    "audit closeout.wait"
  ]),
  row("F9: TEARING_UP, what opened meanwhile does not trade", "TEARING_UP", [tearUp], halted, "WAITING_MARKET", waits),
  row("F10: TEARING_UP, all have ended", "TEARING_UP", [tearUp], protect, "PROTECTING", ["audit closeout.protect"]),
  row("F9: TEARING_UP, recovered", "TEARING_UP", [tearUp], recovered, "DONE", ends),
  row("F9: PROTECTING, what opened meanwhile joins", "PROTECTING", [protect], tearUp, "TEARING_UP", torn),
  row("F9: PROTECTING, a position that opened meanwhile joins", "PROTECTING", [protect], close, "CLOSING", closes),
  row("F3: PROTECTING, what opened meanwhile has no fresh mark", "PROTECTING", [protect], wait, "WAITING_MARK", [
    "audit closeout.wait"
  ]),
  row("F9: PROTECTING, what opened meanwhile does not trade", "PROTECTING", [protect], halted, "WAITING_MARKET", waits),
  row(
    "F10: PROTECTING, the shortfall is written off",
    "PROTECTING",
    [protect],
    writeOff,
    "PROTECTING",
    ["ledger.post NBP_WRITEOFF", "audit closeout.writeOff"],
    { writtenOff: "1.500000", behind: { requestId: 8, swapId: 10 } }
  ),
  row("F10: PROTECTING, written off already", "PROTECTING", [protect, writeOff], writeOff, "refused"),
  row("F10: PROTECTING, over", "PROTECTING", [protect, writeOff], end, "DONE", ends, {
    endedAt: 300,
    writtenOff: "1.500000"
  }),
  row("F10: DONE, money that stood behind repays a part", "DONE", writtenOff, repay, "DONE", repays, {
    repaid: "1.000000",
    repayments: 1
  }),
  row("F10: DONE, and the rest", "DONE", [...writtenOff, repay], { ...repay, amount: "0.500000" }, "DONE", repays, {
    repaid: "1.500000",
    repayments: 2
  }),
  row(
    "F10: DONE, never more than was written off",
    "DONE",
    [...writtenOff, repay],
    { ...repay, amount: "0.500001" },
    "refused"
  ),
  row("F10: DONE, nothing was written off", "DONE", [end], repay, "refused"),
  row(
    "F10: PROTECTING, what is written off is repaid behind the end",
    "PROTECTING",
    [protect, writeOff],
    repay,
    "refused"
  ),
  row("F10: STARTED, nothing is written off before all has ended", "STARTED", [], writeOff, "refused"),
  row("D23: DONE, a second end", "DONE", [end], recovered, "refused")
]
