/**
 * Gathers the inputs for the gates of requests and quotes from a client's state, in a turn or outside one. Views and
 * accepts share it, so an accept takes every quote that is shown as acceptable (A2-110, F18, F19).
 */
import { notReceived } from "../../../../machines/venue/venueCalls.ts"
import {
  type CloseQuoteFacts,
  closeQuoteGates,
  type JudgedQuote
} from "../../../../machines/contract/quoteAcceptance.ts"
import { type Priced, pricedAt } from "../../../../machines/contract/priceRules.ts"
import type { RfqContext } from "../../../../machines/rfq/Rfq.ts"
import { atMark } from "../../../../machines/rfq/rfqEconomics.ts"
import {
  type AcceptFacts,
  acceptGates,
  type OpeningFacts,
  openingRefusal,
  type RfqFacts
} from "../../../../machines/rfq/rfqGates.ts"
import type { RequestedRfq } from "../../../../machines/rfq/rfqOnMarket.ts"
import { spendableOf } from "../../../../machines/margin/accountRisk.ts"
import { firstRefusal } from "../../../../machines/shared/Gates.ts"
import { usdcMinor } from "../../../../machines/shared/Money.ts"
import { type Refusal, unverified, venueAway } from "../../../../machines/shared/Refusal.ts"
import type { Reason } from "../../../../machines/shared/RefusalReason.ts"
import { invalidWhole } from "../../../../machines/shared/RequestBody.ts"
import type { VenueMarket } from "../../../../machines/venue/VenueMarket.ts"
import type { VenueQuote } from "../../../../machines/venue/venueObjects.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { ContractRow } from "../../../tables/contract.ts"
import type { RfqRow } from "../../../tables/rfq.ts"
import { type ClientMoment, momentAt, momentInTurn, type MomentOf } from "../../account/clientMoment.ts"
import { contractsIn } from "../contract/contractDecisions.ts"
import { openContracts, rfqsInTurn, termsOf } from "../../account/contractHoldings.ts"
import { blockStatuses, clientContext } from "../../account/clientState.ts"
import type { ContractMarkets } from "./contractMarkets.ts"
import { isOpen } from "./rfqDecisions.ts"

/** A client at one moment, with the rows that the gates of its requests need. */
export interface ClientNow extends ClientMoment {
  readonly rfqs: ReadonlyArray<RfqRow>
  readonly contracts: ReadonlyArray<ContractRow>
}

export const clientInTurn = (turn: Turn, of: MomentOf): ClientNow => ({
  ...momentInTurn(turn, of),
  rfqs: rfqsInTurn(turn),
  contracts: openContracts(turn)
})

/** A client by its committed state, outside a turn. */
export const clientAt = (...[state, facts, of]: Parameters<typeof momentAt>): ClientNow => ({
  ...momentAt(state, facts, of),
  rfqs: state.all("rfqs"),
  contracts: contractsIn(state)
})

/**
 * The facts for the limits on requests and contracts. `except`: the request that is checked, which must not count against
 * itself.
 */
const openingFacts = (
  { now, client, partnerState, state, rfqs, contracts, account, facts }: ClientNow,
  market: VenueMarket,
  markets: ContractMarkets,
  except: number | null
): OpeningFacts => {
  const opening = rfqs.filter((row) => row.closeContractId === null && row.id !== except)
  return {
    now,
    client: {
      lifecycle: client.state,
      level: client.level,
      restrictions: clientContext(client).restrictions,
      blocks: blockStatuses(state)
    },
    partnerState,
    openRequests: opening.filter(isOpen).length,
    openContracts: contracts.length + opening.filter(({ context }) => context.accepting !== null).length,
    risk: account.risk,
    venueConnected: markets.connected(),
    halt: markets.haltOf(market),
    mark: facts.marks.get(market.symbol) ?? null
  }
}

/** The inputs of the gates for a new request. Create, preview and explain share them. */
export const rfqFacts = (at: ClientNow, rfq: RequestedRfq, market: VenueMarket, markets: ContractMarkets): RfqFacts => {
  const opening = openingFacts(at, market, markets, null)
  const { mark } = opening
  const { terms } = markets
  const freeMargin = spendableOf(at.account.risk)
  const marked = mark === null ? null : atMark(rfq, { mark, market, terms, freeMargin })
  return { ...opening, marked }
}

export const standing = {
  ended: "The request is not open.",
  accepting: "An accept of this request is in flight.",
  cancelling: "A cancel of this request is in flight."
} as const
type Standing = (typeof standing)[keyof typeof standing]
export const standingReasons: Readonly<Record<Standing, Reason>> = {
  [standing.ended]: "REQUEST_NOT_OPEN",
  [standing.accepting]: "ACCEPT_IN_FLIGHT",
  [standing.cancelling]: "CANCEL_IN_FLIGHT"
}

/** The reason why no quote of the request can be accepted now; null if the request's state allows an accept. */
export const standsAgainst = ({ state, context }: RfqRow): Standing | null => {
  if (state !== "OPEN") return standing.ended
  if (context.accepting !== null) return standing.accepting
  return context.cancelling === null ? null : standing.cancelling
}

/** Judges all quotes of one request. The inputs that the quotes share are gathered once. */
export interface QuoteJudge {
  /**
   * The refusal that holds for every quote of the request. It is checked before a quote is looked up; null: the quotes
   * decide.
   */
  readonly before: () => Refusal | null
  /** The refusal of an accept of the quote now; null: the quote is acceptable. */
  readonly refusal: (quote: VenueQuote) => Refusal | null
  /** The figures that the contract would have at the quote's price; null for a request to close. */
  readonly priced: (quote: VenueQuote) => Priced | null
  /** The facts for the rules of a closing quote; null for a request to open. */
  readonly closing: (quote: VenueQuote) => CloseQuoteFacts | null
}

/** Makes the judge for the quotes of one request. */
export const quoteJudge = (at: ClientNow, row: RfqRow, markets: ContractMarkets): QuoteJudge =>
  row.closeContractId === null ? openJudge(at, row, markets) : closeJudge(at, row, row.closeContractId, markets)

const openJudge = (at: ClientNow, row: RfqRow, markets: ContractMarkets): QuoteJudge => {
  const market = markets.find(row.symbol)
  const freeMargin = spendableOf(at.account.risk)
  const priced = ({ price }: VenueQuote): Priced =>
    pricedAt(
      { ...row.context, barrier: row.context.barrierLevel, price },
      { maxLeverage: markets.terms.barrierMaxLeverage, freeMargin }
    )
  if (!market.ok) return { before: () => market.refusal, refusal: () => market.refusal, priced, closing: () => null }
  const opening = openingFacts(at, market.value, markets, row.id)
  const { qty, expiryTs, premiumBudget } = row.context
  const budget = premiumBudget === null ? null : usdcMinor(premiumBudget)
  const factsOf = (quote: VenueQuote): AcceptFacts => ({
    ...opening,
    quoted: {
      now: at.now,
      quote: judged(row.context, quote),
      qty,
      expiryTs,
      premiumBudget: budget,
      priced: priced(quote)
    }
  })
  return {
    before: () => openingRefusal(opening),
    refusal: (quote) => firstRefusal(acceptGates, factsOf(quote)),
    priced,
    closing: () => null
  }
}

const closeJudge = (at: ClientNow, row: RfqRow, contractId: number, markets: ContractMarkets): QuoteJudge => {
  const contract = at.contracts.find(({ id }) => id === contractId)
  const terms = contract === undefined ? null : termsOf(contract)
  const closing = (quote: VenueQuote): CloseQuoteFacts | null =>
    terms === null ? null : { now: at.now, quote: judged(row.context, quote), contract: terms }
  const before = (): Refusal | null => (markets.connected() ? null : venueAway)
  return {
    before,
    refusal: (quote) => {
      const away = before()
      if (away !== null) return away
      const facts = closing(quote)
      return facts === null ? contractEnded : firstRefusal(closeQuoteGates, facts)
    },
    priced: () => null,
    closing
  }
}

const contractEnded = invalidWhole("CONTRACT_NOT_OPEN", "The contract is not open.")

const judged = ({ refusedQuotes }: RfqContext, { id, state, price, qty, validUntil }: VenueQuote): JudgedQuote => {
  const refused = refusedQuotes.find(({ quoteId }) => quoteId === id)
  return { state, price, qty, validUntil, refusedWith: refused === undefined ? null : refusedSentence(refused.reason) }
}

/** The reason why a quote can't be accepted again after an accept that was not executed. */
export const refusedSentence = (reason: string): string =>
  reason === notReceived
    ? "An accept of this quote did not reach the venue: accept another quote."
    : `The venue has refused to execute this quote: ${reason}.`

/** The sentence that a refusal shows to the partner. */
export const sentenceOf = (refusal: Refusal): string => ("sentence" in refusal ? refusal.sentence : unverified)
