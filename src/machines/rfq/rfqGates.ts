/**
 * The gates of a request for quotes behind its fields and its market, as data (A2-110, steps 4 to 8): create, preview, explain
 * and accept walk the same ones, so what is foretold is what happens. Closing a contract has a short list of its own.
 */
import { type OpenQuoteFacts, openQuoteRules } from "../barrier/quoteAcceptance.ts"
import {
  account,
  freshMark,
  halt,
  type OpeningClient,
  partner,
  previewed,
  type PreviewedGate,
  type PreviewedGates,
  restriction,
  ruled,
  venue
} from "../client/openingGates.ts"
import type { AccountRisk } from "../margin/accountRisk.ts"
import type { Mark } from "../market/Facts.ts"
import type { PartnerStatus } from "../partner/Partner.ts"
import { firstRefusal, gateOf, type Gates } from "../shared/Gates.ts"
import { barrierLimits } from "../shared/Limits.ts"
import { type Refusal, unknown } from "../shared/Refusal.ts"
import { invalidWhole } from "../shared/RequestBody.ts"
import { verificationGate } from "../verification/requirements.ts"
import { economicRules, type Marked } from "./rfqEconomics.ts"

/** What stands for or against new risk in a market, whatever is asked for. */
export interface OpeningFacts {
  readonly now: number
  readonly client: OpeningClient
  readonly partnerState: PartnerStatus
  /** Requests to open that are OPEN, without the one that is judged. */
  readonly openRequests: number
  /** Contracts that are OPEN, with those that an accept in flight may open. */
  readonly openContracts: number
  /** Without what the judged request itself has tied up. */
  readonly risk: Pick<AccountRisk, "riskState" | "freeMargin">
  readonly venueConnected: boolean
  /** The message of a halt that covers the market, ours or the venue's; null: it trades. */
  readonly halt: string | null
  /** The last one known; null: none. */
  readonly mark: Mark | null
}

export interface RfqFacts extends OpeningFacts {
  /** The request at the mark; null without a mark, which refuses before it is asked for. */
  readonly marked: Marked | null
}

export interface AcceptFacts extends OpeningFacts {
  readonly quoted: OpenQuoteFacts
}

const verification: PreviewedGate<OpeningFacts> = {
  gate: "verification",
  previewed: false,
  refusal: ({ client: { blocks, level } }) => {
    const refused = verificationGate("TRADE:BARRIER", blocks, level, false)
    return refused === null ? null : { _tag: "Unverified", ...refused }
  },
  compared: ({ client: { level } }) => ({ figure: level, limit: "MICA_MIFID" })
}

const requests = ruled<OpeningFacts>({
  gate: "openRequests",
  reason: "TOO_MANY_REQUESTS_OPEN",
  sentence: ({ openRequests }) =>
    openRequests < barrierLimits.openRequests
      ? null
      : `The client has ${barrierLimits.openRequests} open requests, which is the most there may be.`,
  compared: ({ openRequests }) => ({ figure: String(openRequests), limit: `fewer than ${barrierLimits.openRequests}` })
})

const contracts = ruled<OpeningFacts>({
  gate: "openContracts",
  reason: "TOO_MANY_CONTRACTS",
  sentence: ({ openContracts }) =>
    openContracts < barrierLimits.openContracts
      ? null
      : `The client has ${barrierLimits.openContracts} open contracts, which is the most there may be.`,
  compared: ({ openContracts }) => ({
    figure: String(openContracts),
    limit: `fewer than ${barrierLimits.openContracts}`
  })
})

/** Steps 4 to 7: of create, preview and accept. */
export const openingGates: PreviewedGates<OpeningFacts> = [
  account,
  verification,
  restriction,
  partner,
  requests,
  contracts,
  venue,
  halt,
  freshMark
]

/** Steps 4 to 8 of create, preview and explain. */
export const rfqGates: PreviewedGates<RfqFacts> = [
  ...openingGates,
  ...economicRules.map((rule) => previewed(gateOf(rule, (facts: RfqFacts) => facts.marked)))
]

/** Of accepting a quote to open: the same up to step 7, then the quote at its own price (F18). */
export const acceptGates: Gates<AcceptFacts> = [
  ...openingGates,
  ...openQuoteRules.map((rule) => gateOf(rule, (facts: AcceptFacts) => facts.quoted))
]

/** What a request to close meets: no gate of new risk and no margin (F19). */
export interface CloseFacts {
  /** Null: the client has no such contract. */
  readonly contract: { readonly open: boolean } | null
  /** The OPEN request to close it, if any. */
  readonly openCloseRfqId: number | null
  readonly venueConnected: boolean
}

/** One request to close a contract may be open at a time. */
export const closeGates: Gates<CloseFacts> = [
  {
    gate: "contract",
    refusal: ({ contract }) => (contract === null ? unknown("Contract") : null),
    compared: () => null
  },
  {
    gate: "contractOpen",
    refusal: ({ contract }) =>
      contract?.open === false ? invalidWhole("CONTRACT_NOT_OPEN", "The contract is not open.") : null,
    compared: ({ contract }) => ({ figure: contract?.open === true ? "OPEN" : "ended", limit: "OPEN" })
  },
  {
    gate: "closeRequest",
    refusal: ({ openCloseRfqId: rfqId }) =>
      rfqId === null
        ? null
        : {
            _tag: "Invalid",
            reason: "CLOSE_REQUEST_OPEN",
            sentence: "A request to close this contract is open already.",
            errors: null,
            data: { rfqId }
          },
    compared: ({ openCloseRfqId: rfqId }) => ({ figure: rfqId === null ? "none" : String(rfqId), limit: "none" })
  },
  venue
]

/** The first refusal of new risk in its market, whatever the quote: an accept asks it before it looks for one (A2-110). */
export const openingRefusal = (facts: OpeningFacts): Refusal | null => firstRefusal(openingGates, facts)
