/** The durable timers there are, by what their handlers decide: a closed list, so that none is set that nobody handles. */
import type { SandboxTimer } from "./sandbox/sandboxNames.ts"

/** Timers of the system's mailbox. */
export type SystemTimer = "screening.nightly" | "halt.until"

export type HandlerName =
  | "appropriateness.retake"
  | "documents.retention"
  | "identification.expiry"
  | "identityCheck.expiry"
  | "rfq.window"
  | "contract.expirySoon"
  | "contract.overdue"
  | "order.ask"
  | "order.bound"
  | "order.cancel"
  | "order.protect"
  | "swap.release"
  | "swap.overdue"
  | "funding.held"
  | "venue.misfit"
  | SandboxTimer
  | SystemTimer

/** The one timer of its handler that a subject has, or the one of an object: `<handler>:<id>`. */
export type TimerName = HandlerName | `${HandlerName}:${number}`
