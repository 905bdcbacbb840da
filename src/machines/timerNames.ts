/** The durable timers by the names of their handlers. The list is closed, so that each timer has a handler. */

/** Decisions on a client that a sandbox takes by itself, because no staff decide there. */
export type SandboxDecision =
  | "clear"
  | "rejectReliance"
  | "rejectPerson"
  | "requestDocuments"
  | "restrict"
  | "lift"
  | "downgrade"
  | "close"
  | "credit"

/** The durable timer of a decision that the sandbox takes by itself; a row of the client's mailbox. */
export type SandboxTimer = `sandbox.${SandboxDecision}`

export const sandboxTimer = (decision: SandboxDecision): SandboxTimer => `sandbox.${decision}`

/** The timers that are rows of the system's mailbox. */
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

/** The name of a timer: the handler's own when a subject has only one such timer, otherwise `<handler>:<id of the object>`. */
export type TimerName = HandlerName | `${HandlerName}:${number}`
