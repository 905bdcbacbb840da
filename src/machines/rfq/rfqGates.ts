/**
 * The gates of a request for quotes behind its fields and its market, as data (A2-110, steps 4 to 8): create, preview, explain
 * and accept walk the same ones, so what is foretold is what happens. Closing a contract has a short list of its own.
 */
import { type OpenQuoteFacts, openQuoteRules } from "../barrier/quoteAcceptance.ts"
import type { LifecycleState, VerificationLevel } from "../client/Client.ts"
import { openingRestriction } from "../client/openingRisk.ts"
import { type Restriction, restrictionSentences } from "../client/Restriction.ts"
import type { AccountRisk } from "../margin/accountRisk.ts"
import { isFresh, type Mark } from "../market/Facts.ts"
import type { PartnerStatus } from "../partner/Partner.ts"
import { firstRefusal, type Gate, gateOf, type Gates, type Rule } from "../shared/Gates.ts"
import { barrierLimits } from "../shared/Limits.ts"
import { conflict, type Refusal } from "../shared/Refusal.ts"
import { invalidWhole } from "../shared/RequestBody.ts"
import type { BlockStatuses } from "../verification/Blocks.ts"
import { verificationGate } from "../verification/requirements.ts"
import { economicRules, type Marked } from "./rfqEconomics.ts"

/** What stands for or against new risk in a market, whatever is asked for. */
export interface OpeningFacts {
  readonly now: number
  readonly client: {
    readonly lifecycle: LifecycleState
    readonly level: VerificationLevel
    readonly restrictions: ReadonlyArray<Restriction>
    readonly blocks: BlockStatuses
  }
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

/** `previewed`: a preview shows its sentence as `reason` instead of being refused (A2-28). */
export interface RfqGate<Facts> extends Gate<Facts> {
  readonly previewed: boolean
}
export type RfqGates<Facts> = ReadonlyArray<RfqGate<Facts>>

const account: RfqGate<OpeningFacts> = {
  gate: "account",
  previewed: false,
  refusal: ({ client }) => (client.lifecycle === "CLOSED" ? conflict("The account is closed.") : null),
  compared: ({ client }) => ({ figure: client.lifecycle, limit: "not CLOSED" })
}

const verification: RfqGate<OpeningFacts> = {
  gate: "verification",
  previewed: false,
  refusal: ({ client: { blocks, level } }) => {
    const refused = verificationGate("TRADE:BARRIER", blocks, level, false)
    return refused === null ? null : { _tag: "Unverified", ...refused }
  },
  compared: ({ client: { level } }) => ({ figure: level, limit: "MICA_MIFID" })
}

const ofSentence = (rule: Rule<OpeningFacts>): RfqGate<OpeningFacts> => previewed(gateOf(rule, (facts) => facts))

const previewed = <Facts>(gate: Gate<Facts>): RfqGate<Facts> => ({ ...gate, previewed: true })

/** A close-out that live marks imply refuses like the recorded one; in a margin call the free margin does (A2-52, A2-91). */
const restriction = ofSentence({
  gate: "restriction",
  sentence: ({ client, risk }) =>
    openingRestriction(client.lifecycle, client.restrictions) ??
    (risk.riskState === "CLOSE_OUT" ? restrictionSentences.CLOSE_OUT : null),
  compared: ({ client, risk }) => ({
    figure: [client.lifecycle, ...client.restrictions, risk.riskState].join(", "),
    limit: "ACTIVE, not CLOSE_OUT"
  })
})

/** The sentence that refuses new risk of the clients of a partner that is not ACTIVE, or null; its reliance is no part of it (A1-50). */
export const partnerRestriction = (partnerState: PartnerStatus): string | null =>
  partnerState === "ACTIVE" ? null : `The partner is ${partnerState}: new positions may not be opened.`

const partner = ofSentence({
  gate: "partner",
  sentence: ({ partnerState }) => partnerRestriction(partnerState),
  compared: ({ partnerState }) => ({ figure: partnerState, limit: "ACTIVE" })
})

const requests = ofSentence({
  gate: "openRequests",
  sentence: ({ openRequests }) =>
    openRequests < barrierLimits.openRequests
      ? null
      : `The client has ${barrierLimits.openRequests} open requests, which is the most there may be.`,
  compared: ({ openRequests }) => ({ figure: String(openRequests), limit: `fewer than ${barrierLimits.openRequests}` })
})

const contracts = ofSentence({
  gate: "openContracts",
  sentence: ({ openContracts }) =>
    openContracts < barrierLimits.openContracts
      ? null
      : `The client has ${barrierLimits.openContracts} open contracts, which is the most there may be.`,
  compared: ({ openContracts }) => ({
    figure: String(openContracts),
    limit: `fewer than ${barrierLimits.openContracts}`
  })
})

const venueAway: Refusal = { _tag: "VenueAway", sentence: "The venue can not be reached: nothing was done." }

const venue: RfqGate<{ readonly venueConnected: boolean }> = {
  gate: "venue",
  previewed: false,
  refusal: ({ venueConnected }) => (venueConnected ? null : venueAway),
  compared: ({ venueConnected }) => ({ figure: venueConnected ? "connected" : "away", limit: "connected" })
}

/** The sentence that refuses new risk in a market, by the message of its halt; null: it trades. */
export const haltRestriction = (message: string | null): string | null =>
  message === null ? null : `Trading in this market is halted: ${message}`

const halt = ofSentence({
  gate: "halt",
  sentence: ({ halt: message }) => haltRestriction(message),
  compared: ({ halt: message }) => ({ figure: message === null ? "trading" : "halted", limit: "trading" })
})

const freshMark = ofSentence({
  gate: "mark",
  sentence: ({ mark, now }) =>
    mark !== null && isFresh(mark, now) ? null : "The market has no live price at the moment: try again shortly.",
  compared: ({ mark, now }) => ({
    figure: mark === null ? "none" : isFresh(mark, now) ? "live" : "stale",
    limit: "live"
  })
})

/** Steps 4 to 7: of create, preview and accept. */
export const openingGates: RfqGates<OpeningFacts> = [
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
export const rfqGates: RfqGates<RfqFacts> = [
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
    refusal: ({ contract }) => (contract === null ? { _tag: "Unknown", sentence: "Contract not found." } : null),
    compared: () => null
  },
  {
    gate: "contractOpen",
    refusal: ({ contract }) => (contract?.open === false ? invalidWhole("The contract is not open.") : null),
    compared: ({ contract }) => ({ figure: contract?.open === true ? "OPEN" : "ended", limit: "OPEN" })
  },
  {
    gate: "closeRequest",
    refusal: ({ openCloseRfqId: rfqId }) =>
      rfqId === null
        ? null
        : {
            _tag: "Invalid",
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
