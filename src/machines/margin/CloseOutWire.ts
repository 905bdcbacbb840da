/** A close-out episode as staff read it (operator surface, closeout). */
import { Schema } from "effect"
import { Id } from "../shared/Ids.ts"
import { type CloseOutContext, liveCloseOutStates } from "./CloseOut.ts"
import { decimalText, MoneyDecimal } from "../shared/Money.ts"

/** The states of an episode. In WAITING_MARK, no open exposure has a fresh mark. */
export const closeOutStates = [...liveCloseOutStates, "DONE"] as const
export type CloseOutState = (typeof closeOutStates)[number]

const millis = Schema.Int.annotate({ description: "Unix ms." })
const usdc = Schema.String.annotate({ description: "USDC, decimal string with six places." })

export const CloseOutWire = Schema.Struct({
  closeOutId: Id,
  clientId: Id,
  clientUid: Schema.String,
  state: Schema.Literals(closeOutStates),
  startedAt: millis,
  endedAt: Schema.NullOr(millis).annotate({ description: "Null while it goes on." }),
  closeOutEquity: usdc.annotate({ description: "When it started, as marginBase is." }),
  marginBase: usdc,
  orders: Schema.Int.annotate({ description: "Orders that were sent to close positions." }),
  contracts: Schema.Int.annotate({ description: "Contracts that the venue was asked to tear up." }),
  widenedTo: Schema.NullOr(Schema.String).annotate({
    description: "Percent of the mark that staff let its orders trade away from it; null: no further than its steps."
  }),
  writtenOff: usdc.annotate({ description: "What negative balance protection put back; zero while nothing." }),
  repaid: usdc.annotate({
    description: "What of it was repaid by money that stood behind it: of withdrawals that came back, and of swaps."
  })
}).annotate({ identifier: "CloseOut" })
export type CloseOutWire = typeof CloseOutWire.Type

export const closeOutWire = (state: CloseOutState, context: CloseOutContext, clientUid: string): CloseOutWire => {
  const { closeOutId, clientId, startedAt, endedAt, closeOutEquity, marginBase } = context
  const { orders, contracts, widenedBps, writtenOff, repaid } = context
  return {
    closeOutId,
    clientId,
    clientUid,
    state,
    startedAt,
    endedAt,
    closeOutEquity,
    marginBase,
    orders,
    contracts,
    widenedTo: widenedBps === 0 ? null : decimalText(new MoneyDecimal(widenedBps).div(100), 2),
    writtenOff,
    repaid
  }
}
