/**
 * The gates of a request for quotes, run in a fixed order after the checks of its fields and its market. Create, preview,
 * explain and accept run the same gates, so a preview predicts the outcome. Closing a contract has a short list of its own
 * (A2-22, A2-110, F18, F19).
 */
import { type OpenQuoteFacts, openQuoteRules } from "../contract/quoteAcceptance.ts"
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
import { contractLimits } from "../shared/Limits.ts"
import { type Refusal, unknown } from "../shared/Refusal.ts"
import { invalidWhole } from "../shared/RequestBody.ts"
import { verificationGate } from "../verification/requirements.ts"
import { economicRules, type Marked } from "./rfqEconomics.ts"

/** The facts that decide about new risk in a market. */
export interface OpeningFacts {
  readonly now: number
  readonly client: OpeningClient
  readonly partnerState: PartnerStatus
  /** The number of OPEN requests to open, without the present one. */
  readonly openRequests: number
  /** The number of OPEN contracts, and of those that an accept in flight may open. */
  readonly openContracts: number
  /** The risk without the reservation of the present request. */
  readonly risk: Pick<AccountRisk, "riskState" | "freeMargin">
  readonly venueConnected: boolean
  /** The message of a trading halt, by the broker or the venue, that covers the market; null while the market trades. */
  readonly halt: string | null
  /** The last known mark, or null. */
  readonly mark: Mark | null
}

export interface RfqFacts extends OpeningFacts {
  /** The request at the mark. Null without a mark: an earlier gate then refuses. */
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
    openRequests < contractLimits.openRequests
      ? null
      : `The client has ${contractLimits.openRequests} open requests, which is the most there may be.`,
  compared: ({ openRequests }) => ({ figure: String(openRequests), limit: `fewer than ${contractLimits.openRequests}` })
})

const contracts = ruled<OpeningFacts>({
  gate: "openContracts",
  reason: "TOO_MANY_CONTRACTS",
  sentence: ({ openContracts }) =>
    openContracts < contractLimits.openContracts
      ? null
      : `The client has ${contractLimits.openContracts} open contracts, which is the most there may be.`,
  compared: ({ openContracts }) => ({
    figure: String(openContracts),
    limit: `fewer than ${contractLimits.openContracts}`
  })
})

/** The gates of create, preview and accept that need no mark of the request. */
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

/** All gates of create, preview and explain. */
export const rfqGates: PreviewedGates<RfqFacts> = [
  ...openingGates,
  ...economicRules.map((rule) => previewed(gateOf(rule, (facts: RfqFacts) => facts.marked)))
]

/** Gates for accepting a quote to open: `openingGates`, then the rules at the quote's own price instead of the mark. */
export const acceptGates: Gates<AcceptFacts> = [
  ...openingGates,
  ...openQuoteRules.map((rule) => gateOf(rule, (facts: AcceptFacts) => facts.quoted))
]

/** The facts of a request to close. They include no margin: closing passes no gate of new risk. */
export interface CloseFacts {
  /** Null when the client has no such contract. */
  readonly contract: { readonly open: boolean } | null
  /** The OPEN request to close it, if any. */
  readonly openCloseRfqId: number | null
  readonly venueConnected: boolean
}

/** Gates for a request to close. Only one request to close a contract may be open at a time. */
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

/** The first refusal of new risk in the market, for any quote. An accept checks this before it searches the quote. */
export const openingRefusal = (facts: OpeningFacts): Refusal | null => firstRefusal(openingGates, facts)
