/**
 * Gates that refuse new risk, shared by the gate lists of requests for quotes and of orders. Each list runs them in a sequence
 * of its own (A2-52, A2-91, A2-110, A2-28, A2-49, A1-50, F3).
 */
import { graverOf, type RiskState } from "../margin/accountRisk.ts"
import { isFresh, type Mark } from "../market/Facts.ts"
import type { PartnerStatus } from "../partner/Partner.ts"
import { type Gate, gateOf, type Rule } from "../shared/Gates.ts"
import { conflict, venueAway } from "../shared/Refusal.ts"
import type { BlockStatuses, VerificationLevel } from "../verification/Blocks.ts"
import type { LifecycleState } from "./Client.ts"
import { openingReasons, openingRestriction, type OpeningSentence } from "./openingRisk.ts"
import { type Restriction, restrictionSentences } from "./Restriction.ts"

/** A gate with `previewed`: whether a preview shows its sentence as `reason` where the write is refused. */
export interface PreviewedGate<Facts> extends Gate<Facts> {
  readonly previewed: boolean
}
export type PreviewedGates<Facts> = ReadonlyArray<PreviewedGate<Facts>>

export const previewed = <Facts>(gate: Gate<Facts>): PreviewedGate<Facts> => ({ ...gate, previewed: true })

/** A previewed gate made of a rule that reads all of its facts. */
export const ruled = <Facts, Sentence extends string = string>(rule: Rule<Facts, Sentence>): PreviewedGate<Facts> =>
  previewed(gateOf(rule, (facts: Facts) => facts))

/** The facts of a client that new risk depends on. */
export interface OpeningClient {
  readonly lifecycle: LifecycleState
  readonly level: VerificationLevel
  readonly restrictions: ReadonlyArray<Restriction>
  readonly blocks: BlockStatuses
}

export const account: PreviewedGate<{ readonly client: OpeningClient }> = {
  gate: "account",
  previewed: false,
  refusal: ({ client }) =>
    client.lifecycle === "CLOSED" ? conflict("ACCOUNT_CLOSED", "The account is closed.") : null,
  compared: ({ client }) => ({ figure: client.lifecycle, limit: "not CLOSED" })
}

interface Restricted {
  readonly client: OpeningClient
  /** `recorded`: the risk state of the last commit that changed it; absent where the client's restrictions already show it. */
  readonly risk: { readonly riskState: RiskState; readonly recorded?: RiskState }
}

/**
 * A close-out that live marks imply refuses new risk like a recorded one. A margin call does not: in a margin call
 * the free margin decides.
 */
export const restriction = ruled<Restricted, OpeningSentence>({
  gate: "restriction",
  reason: (_, sentence) => openingReasons[sentence],
  sentence: ({ client, risk }) =>
    openingRestriction(client.lifecycle, client.restrictions) ??
    (stateOf(risk) === "CLOSE_OUT" ? restrictionSentences.CLOSE_OUT : null),
  compared: ({ client, risk }) => ({
    figure: [client.lifecycle, ...client.restrictions, stateOf(risk)].join(", "),
    limit: "ACTIVE, not CLOSE_OUT"
  })
})

const stateOf = ({ riskState, recorded }: Restricted["risk"]): RiskState =>
  recorded === undefined ? riskState : graverOf(riskState, recorded)

/**
 * The sentence that refuses new risk for clients of a partner that is not ACTIVE, or null. The partner's reliance plays no
 * part.
 */
export const partnerRestriction = (partnerState: PartnerStatus): string | null =>
  partnerState === "ACTIVE" ? null : `The partner is ${partnerState}: new positions may not be opened.`

export const partner = ruled<{ readonly partnerState: PartnerStatus }>({
  gate: "partner",
  reason: "PARTNER_NOT_ACTIVE",
  sentence: ({ partnerState }) => partnerRestriction(partnerState),
  compared: ({ partnerState }) => ({ figure: partnerState, limit: "ACTIVE" })
})

export const venue: PreviewedGate<{ readonly venueConnected: boolean }> = {
  gate: "venue",
  previewed: false,
  refusal: ({ venueConnected }) => (venueConnected ? null : venueAway),
  compared: ({ venueConnected }) => ({ figure: venueConnected ? "connected" : "away", limit: "connected" })
}

/** The sentence that refuses new risk in a halted market, with the message of the halt; null while the market trades. */
export const haltRestriction = (message: string | null): string | null =>
  message === null ? null : `Trading in this market is halted: ${message}`

export const halt = ruled<{ readonly halt: string | null }>({
  gate: "halt",
  reason: "MARKET_HALTED",
  sentence: ({ halt: message }) => haltRestriction(message),
  compared: ({ halt: message }) => ({ figure: message === null ? "trading" : "halted", limit: "trading" })
})

/** Requires a fresh mark of the market itself. */
export const freshMark = ruled<{ readonly mark: Mark | null; readonly now: number }>({
  gate: "mark",
  reason: "MARKET_NOT_PRICED",
  sentence: ({ mark, now }) =>
    mark !== null && isFresh(mark, now) ? null : "The market has no live price at the moment: try again shortly.",
  compared: ({ mark, now }) => ({
    figure: mark === null ? "none" : isFresh(mark, now) ? "live" : "stale",
    limit: "live"
  })
})
