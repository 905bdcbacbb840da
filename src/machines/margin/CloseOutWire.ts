/** A close-out episode as staff read it (operator surface, closeout). */
import { Schema } from "effect"
import { Id } from "../shared/Ids.ts"

/** The steps of an episode in their order; it waits for a mark or a market where it can't go on without one. */
export const closeOutStates = [
  "STARTED",
  "CANCELLING",
  "WAITING_MARK",
  "WAITING_MARKET",
  "TEARING_UP",
  "PROTECTING",
  "DONE"
] as const
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
  contracts: Schema.Int.annotate({ description: "Contracts that the venue was asked to tear up." }),
  writtenOff: usdc.annotate({ description: "What negative balance protection put back; zero while nothing." })
}).annotate({ identifier: "CloseOut" })
export type CloseOutWire = typeof CloseOutWire.Type
