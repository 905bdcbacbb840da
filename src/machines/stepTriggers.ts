/**
 * The triggers of each event of each machine: a partner's route, an operator's command, a timer, the venue, or the service
 * itself. The atlas uses them to show which events can come next and who causes them; a test compares routes and commands
 * with the contracts.
 */
import type { EventFrom } from "xstate"
import type { HandlerName } from "./timerNames.ts"
import type { Kind, MachineOf } from "./registry.ts"

export type StepTrigger =
  /** A partner's request: method and path below the partner's prefix. */
  | { readonly by: "partner"; readonly does: string }
  /** An operator's command, such as `deposit confirm`. The contract names the roles that may run it. */
  | { readonly by: "operator"; readonly does: string }
  | { readonly by: "timer"; readonly does: HandlerName }
  | { readonly by: "venue"; readonly does: string }
  | { readonly by: "service"; readonly does: string }

const client = (path: string, method = "POST"): StepTrigger => ({
  by: "partner",
  does: `${method} /clients/{clientId}${path}`
})
const partner = (does: string): StepTrigger => ({ by: "partner", does })
const operator = (does: string): StepTrigger => ({ by: "operator", does })
const timer = (does: HandlerName): StepTrigger => ({ by: "timer", does })
const venue = (does: string): StepTrigger => ({ by: "venue", does })
const service = (does: string): StepTrigger => ({ by: "service", does })

type Events<K extends Kind> = EventFrom<MachineOf<K>>["type"]

/** All triggers, by the machine's kind and by event. */
export const movers: { readonly [K in Kind]: { readonly [E in Events<K>]: ReadonlyArray<StepTrigger> } } = {
  partner: {
    CREATE: [operator("partner create")],
    SUSPEND: [operator("partner status")],
    REACTIVATE: [operator("partner status")],
    CLOSE: [operator("partner status")],
    CHANGE_CUSTODY: [operator("partner custody")]
  },
  reliance: {
    REQUEST: [operator("partner reliance")],
    WITHDRAW: [operator("partner reliance")],
    APPROVE: [operator("partner reliance")],
    SUSPEND: [operator("partner reliance")],
    REVOKE: [operator("partner reliance")],
    REINSTATE: [operator("partner reliance")]
  },
  apiKey: { REVOKE: [operator("key revoke"), operator("operator revoke")] },
  client: {
    ONBOARD: [partner("POST /clients")],
    COMPLIANCE_APPROVE: [operator("kyc clear")],
    COMPLIANCE_CLEAR: [operator("kyc clear")],
    REONBOARD: [partner("POST /clients")],
    KYC_REVISION: [client("/kyc", "PUT")],
    MIFID_COMPLETE: [client("/mifid", "PUT"), client("/appropriateness"), client("/appropriateness/acknowledge")],
    REJECT_RELIANCE: [operator("kyc reject")],
    REJECT_PERSON: [operator("kyc reject-person")],
    RESTRICT: [operator("client restrict")],
    MATCHED: [timer("screening.nightly"), operator("screening add"), operator("screening import")],
    LIFT: [operator("client lift")],
    DOWNGRADE: [operator("client downgrade")],
    REOPEN: [operator("client reopen")],
    CLOSE: [operator("client close")]
  },
  kycPackage: {
    STORE: [partner("POST /clients")],
    REVISE: [client("/kyc", "PUT")],
    ACCEPT: [operator("kyc clear")],
    SAMPLE: [operator("kyc sample")],
    REQUEST_DOCUMENTS: [operator("kyc request-documents")],
    DOCUMENT_UPLOADED: [client("/documents")],
    REJECT_RELIANCE: [operator("kyc reject")],
    REJECT_PERSON: [operator("kyc reject-person")],
    REOPEN: [operator("client reopen")],
    REONBOARD: [partner("POST /clients")]
  },
  verificationBlock: {
    PARTNER_WRITE: [partner("POST /clients"), client("/kyc", "PUT"), client("/mifid", "PUT")],
    DRAFT: [service("direct clients alone leave drafts")],
    SUBMIT: [service("direct clients alone submit drafts")],
    APPROVE: [service("direct clients alone are approved block by block")],
    REJECT: [service("direct clients alone are rejected block by block")],
    REJECT_RELIANCE: [operator("kyc reject")],
    EXPIRE: [timer("identification.expiry"), timer("identityCheck.expiry")],
    ASSESSED: [client("/appropriateness")],
    ACKNOWLEDGED: [client("/appropriateness/acknowledge")],
    DOWNGRADED: [operator("client downgrade")]
  },
  assessment: {
    SUBMIT: [client("/appropriateness")],
    ACKNOWLEDGE: [client("/appropriateness/acknowledge")],
    DOWNGRADED: [operator("client downgrade")],
    RETAKE_DUE: [timer("appropriateness.retake")],
    RELIANCE_REJECTED: [operator("kyc reject")]
  },
  case: {
    NOTE: [timer("screening.nightly"), operator("screening add"), operator("screening import"), client("/documents")],
    CLEAR: [operator("kyc clear")],
    REJECT: [operator("kyc reject"), operator("kyc reject-person")]
  },
  approval: {
    GRANT: [operator("approval grant")],
    REFUSE: [operator("approval refuse")],
    EXPIRE: [service("when somebody rules on it after its time")]
  },
  watchImport: {
    ENTRIES: [operator("screening entries")],
    REMOVE: [operator("screening finish")],
    SUPERSEDE: [operator("screening import")]
  },
  screeningPass: {
    ADVANCE: [service("a page of clients at a time")],
    FINISH: [service("after the last page")],
    SUPERSEDE: [service("a whole pass that begins")]
  },
  depositNotice: { CONFIRM: [operator("deposit confirm")], REJECT: [operator("deposit reject")] },
  collateralReport: { REPORT: [client("/collateral")] },
  settlementItem: {
    REPORT_SETTLED: [partner("POST /settlement/items/{itemId}/report"), partner("POST /settlement/report")],
    REPORT_FAILED: [partner("POST /settlement/items/{itemId}/report"), partner("POST /settlement/report")]
  },
  withdrawalRequest: {
    REQUEST: [client("/withdrawals")],
    APPROVE: [operator("withdrawal approve")],
    REJECT: [operator("withdrawal reject")],
    CANCEL: [client("/withdrawals/{rid}/cancel")],
    PAY: [operator("withdrawal pay")],
    FAIL: [operator("withdrawal fail")]
  },
  reconBreak: { CLOSE: [operator("break close")] },
  venueProbe: {
    EXECUTED: [venue("carried it out"), operator("venue resolve")],
    REFUSED: [venue("refused it")],
    VOID: [venue("does not know it, or said so"), operator("venue resolve")]
  },
  venueMisfit: {
    READ: [timer("venue.misfit")],
    UNFIT: [venue("answered a read, and the answer does not fit")],
    FIT: [venue("answered, and the answer fits"), operator("venue resolve")]
  },
  rfq: {
    CONFIRMED: [venue("took the request")],
    UNANSWERED: [service("no answer in time: it may be there")],
    REFUSED: [venue("refused the request"), operator("venue resolve")],
    EXECUTED: [venue("opened the contract"), operator("venue resolve")],
    FOUND: [venue("still has it open")],
    NOT_WITHDRAWN: [venue("does not know it yet, or has executed it")],
    CONTRACT_ENDED: [venue("has ended the contract already")],
    ACCEPT: [client("/rfq/{rfqId}/accept")],
    ACCEPT_REFUSED: [venue("refused the acceptance"), operator("venue resolve")],
    CANCEL: [client("/rfq/{rfqId}/cancel")],
    DROP: [operator("client restrict"), operator("market halt"), service("nothing may open risk any more")],
    WINDOW_ELAPSED: [timer("rfq.window")],
    VENUE_ENDED: [venue("ended it")]
  },
  barrierContract: {
    KNOCKED_OUT: [venue("the price touched the barrier")],
    TAKE_PROFIT: [venue("the price touched the take-profit level")],
    EXPIRED: [venue("its time was up")],
    EARLY_CLOSE: [venue("closed it as asked")],
    TORN_UP: [venue("tore it up as asked")],
    CLOSED: [venue("ended it otherwise"), operator("venue resolve")],
    CLOSE_REQUESTED: [client("/barriers/{contractId}/close")],
    TEAR_UP: [service("a close-out of the account")],
    TEAR_UP_FAILED: [venue("refused to tear it up, or never received the call")],
    NEAR_KO: [service("the mark is near the barrier")],
    NEAR_TP: [service("the mark is near the take-profit level")],
    EXPIRY_SOON: [timer("contract.expirySoon")],
    OVERDUE: [timer("contract.overdue")],
    UNKNOWN_AT_VENUE: [venue("does not know it")]
  },
  order: {
    SEND: [client("/orders"), service("protection, or a close-out")],
    ADOPTED: [venue("traded in the account by itself")],
    ACKED: [venue("took it")],
    REFUSED: [venue("refused it, or never had it"), operator("venue resolve")],
    FILL: [venue("traded"), operator("venue resolve")],
    ENDED: [venue("ended it"), operator("venue resolve")],
    TRIGGERED: [venue("its trigger was touched")],
    CANCEL: [
      client("/orders/{orderId}", "DELETE"),
      operator("order cancel"),
      timer("order.cancel"),
      service("nothing may open risk any more, or there is nothing left to reduce")
    ],
    CANCEL_REFUSED: [venue("refused to cancel it")],
    AMEND: [service("protection follows its position; a bound changes")],
    AMENDED: [venue("changed it")],
    AMEND_REFUSED: [venue("refused the change")],
    ATTACHED: [service("its protection is filed")]
  },
  attachment: {
    PLACE: [service("there is a position to protect")],
    STAND: [venue("took the leg")],
    FIRE: [venue("traded the leg")],
    FOLLOW: [
      service("the position has changed"),
      timer("order.protect"),
      client("/orders/{orderId}", "DELETE"),
      operator("order cancel")
    ],
    CLOSE: [service("the position is closed")]
  },
  swap: {
    TOOK: [venue("the writer took the notional"), operator("venue resolve")],
    REFUSED: [venue("refused the acceptance"), operator("venue resolve")],
    MISSED: [venue("does not know it")],
    RELEASE: [timer("swap.release"), operator("venue resolve")],
    PAID: [venue("the writer paid")],
    SHORT: [venue("the writer paid less")],
    OVERDUE: [timer("swap.overdue")],
    DELISTED: [venue("delisted the offer")],
    FEE: [venue("corrected a fee")],
    NAMED: [venue("said its id")],
    DOUBT: [venue("said what does not fit")],
    WRITE_OFF: [operator("swap writeoff")]
  },
  riskMonitor: {
    CALL: [service("the margin level fell to a margin call")],
    CLOSE_OUT: [service("the margin level fell to a close-out")],
    RECOVER: [service("the margin level is above both")]
  },
  closeOut: {
    CANCEL: [service("working orders of the account are cancelled first")],
    CLOSE: [service("a position can be closed")],
    TEAR_UP: [service("a contract can be torn up")],
    WAIT: [service("no fresh mark, or no market that trades")],
    WIDEN: [operator("closeout widen")],
    PROTECT: [service("the account is below zero with nothing left to close")],
    WRITE_OFF: [service("what is below zero is borne by the firm")],
    REPAY: [service("money that stood behind the write-off has come back")],
    END: [service("the account is sound again, or empty")]
  },
  tradingHalt: {
    CHANGE: [operator("market halt")],
    RESUME: [operator("market resume")],
    ELAPSE: [timer("halt.until")]
  },
  statement: {
    GENERATE: [client("/statements"), operator("statement generate"), service("nights, months, quarters and years")],
    SUPERSEDE: [operator("statement correct")]
  },
  webhookEndpoint: {
    PUT: [partner("PUT /webhook")],
    DELETE: [partner("DELETE /webhook")],
    TEST: [partner("POST /webhook/test")],
    PARTNER_CLOSED: [operator("partner status")]
  },
  webhookDelivery: {
    ACKNOWLEDGED: [service("an attempt that the endpoint answers with a 2xx")],
    ATTEMPT_FAILED: [service("an attempt that fails")],
    REDELIVER: [operator("webhook redeliver")],
    PARTNER_CLOSED: [operator("partner status")]
  }
}

/** The triggers of an event of a machine; empty for an unknown event. */
export const stepTriggersOf = (kind: Kind, event: string): ReadonlyArray<StepTrigger> =>
  (movers[kind] as Readonly<Record<string, ReadonlyArray<StepTrigger>>>)[event] ?? []
