/** Knock-out contracts as literal rows (D5). */
import { rowsOf } from "./TransitionRow.ts"
import type { ContractEvent } from "../../../src/machines/contract/Contract.ts"
import { contractInput } from "../../../src/machines/contract/contractSamples.ts"

const row = rowsOf<ContractEvent>(contractInput)

const knockedOut: ContractEvent = {
  type: "KNOCKED_OUT",
  at: 200,
  settlePrice: "57000.0",
  pnl: "-28.500000",
  reason: null
}
const takeProfit: ContractEvent = {
  ...knockedOut,
  type: "TAKE_PROFIT",
  settlePrice: "63000.0",
  pnl: "30.000000"
}
const expired: ContractEvent = { ...knockedOut, type: "EXPIRED", settlePrice: "60000.0", pnl: "0.000000" }
const earlyClose: ContractEvent = { ...knockedOut, type: "EARLY_CLOSE", settlePrice: "60500.0", pnl: "5.000000" }
const tornUp: ContractEvent = { ...knockedOut, type: "TORN_UP", settlePrice: "59000.0", pnl: "-10.000000" }
const closed: ContractEvent = { ...knockedOut, type: "CLOSED", settlePrice: "60100.0", pnl: "1.000000" }
const tearUp: ContractEvent = { type: "TEAR_UP", attempt: 1 }
const tearUpFailed: ContractEvent = { type: "TEAR_UP_FAILED", reason: "no market", isLost: false }

const end = [
  "ledger.post BARRIER_SETTLE",
  "notify BARRIER_SETTLED",
  "timer.clear contract.expirySoon:5",
  "timer.clear contract.overdue:5",
  "audit contract.end"
]

export const barrierContractRows = [
  row("D5: OPEN, knocked out", "OPEN", [], knockedOut, "KNOCKED_OUT", end, {
    closedAt: 200,
    settlePrice: "57000.0",
    pnl: "-28.500000",
    closeReason: "knockOut"
  }),
  row("D5: OPEN, take profit", "OPEN", [], takeProfit, "TAKE_PROFIT", end, { closeReason: "takeProfit" }),
  row("D5: OPEN, expired", "OPEN", [], expired, "EXPIRED", end, { closeReason: "expiry" }),
  row("D5: OPEN, close accepted", "OPEN", [], earlyClose, "EARLY_CLOSE", end, { closeReason: "earlyClose" }),
  row("D5: OPEN, torn up", "OPEN", [tearUp], tornUp, "TORN_UP", end, { closeReason: "liquidation", tearing: false }),
  row("D5: OPEN, final settlement", "OPEN", [], closed, "CLOSED", end, { closeReason: "finalSettlement" }),
  row("A2-29: OPEN, a request to close it", "OPEN", [], { type: "CLOSE_REQUESTED", closeRfqId: 2 }, "OPEN", [], {
    closeRfqId: 2
  }),
  row("F9: OPEN, tear-up", "OPEN", [], tearUp, "OPEN", ["venue.call tearUp", "audit contract.tearUp"], {
    tearing: true,
    tearUps: 1
  }),
  row("F9: OPEN, tear-up while one is in flight", "OPEN", [tearUp], { ...tearUp, attempt: 2 }, "refused"),
  row("F9: OPEN, the tear-up is refused", "OPEN", [tearUp], tearUpFailed, "OPEN", ["audit contract.tearUpFailed"], {
    tearing: false,
    isTearUpLost: false
  }),
  row(
    "F9: OPEN, the venue never received the tear-up",
    "OPEN",
    [tearUp],
    { ...tearUpFailed, isLost: true },
    "OPEN",
    ["audit contract.tearUpFailed"],
    { tearing: false, isTearUpLost: true }
  ),
  row("F9: OPEN, a refused tear-up under its old name", "OPEN", [tearUp, tearUpFailed], tearUp, "refused"),
  row("F9: OPEN, a refusal of no tear-up", "OPEN", [], tearUpFailed, "refused"),
  row("A2-31: OPEN, near its barrier", "OPEN", [], { type: "NEAR_KO" }, "OPEN", ["notify BARRIER_NEAR_KO"], {
    said: ["BARRIER"]
  }),
  row(
    "A2-31: OPEN, near its barrier again",
    "OPEN",
    [{ type: "NEAR_KO" }, { type: "NEAR_TP" }],
    { type: "NEAR_KO" },
    "OPEN",
    ["notify BARRIER_NEAR_KO"],
    { said: ["TAKE_PROFIT", "BARRIER"] }
  ),
  row("A2-31: OPEN, near its take profit", "OPEN", [], { type: "NEAR_TP" }, "OPEN", ["notify BARRIER_NEAR_TP"], {
    said: ["TAKE_PROFIT"]
  }),
  row("A2-31: OPEN, expiry soon", "OPEN", [], { type: "EXPIRY_SOON" }, "OPEN", ["notify BARRIER_EXPIRY_SOON"]),
  row("D5: OPEN, expiry passed without a word", "OPEN", [], { type: "OVERDUE", askAgainAt: 9 }, "OPEN", [
    "timer.set contract.overdue:5",
    "audit contract.overdue"
  ]),
  row("D5: OPEN, the venue does not know it", "OPEN", [], { type: "UNKNOWN_AT_VENUE" }, "OPEN", [
    "audit contract.unknownAtVenue"
  ]),
  row("D5: KNOCKED_OUT, a second end", "KNOCKED_OUT", [knockedOut], takeProfit, "refused"),
  row("D5: EARLY_CLOSE, a touch after it", "EARLY_CLOSE", [earlyClose], knockedOut, "refused")
]
