/**
 * For every member of every venue message: its check, or the reason why it has none. Market data has no checks here, because
 * no request precedes it; the market mirrors check it (MarketMirror.ts) (D8).
 */
import type { VenueOutcome } from "../venue/venueCalls.ts"
import type { AccountFact, VenueEvent, VenueFact, VenueFunding, VenueHeartbeat } from "../venue/VenueEvent.ts"
import type { VenueAccount, VenueMoney, VenuePosition, VenueQuote, VenueTrigger } from "../venue/venueObjects.ts"
import { nounLists, type NounList, nounNames, type VenueNounName } from "../venue/venueNouns.ts"
import { row, type Rows } from "./check.ts"
import { contractChecks } from "./contractChecks.ts"
import { fillChecks } from "./fillChecks.ts"
import { orderChecks } from "./orderChecks.ts"
import { ownOrderChecks, ownTradeChecks } from "./ownTradeChecks.ts"
import { requestChecks } from "./requestChecks.ts"
import { swapTables } from "./swapChecks.ts"

/** The same row for each of some names. */
const rowsOf = <Name extends string, Row>(
  names: ReadonlyArray<Name>,
  of: (name: Name) => readonly [Name, Row]
): { readonly [N in Name]: Row } => Object.fromEntries(names.map(of)) as { readonly [N in Name]: Row }

type Together<T> = (T extends unknown ? (each: T) => void : never) extends (all: infer All) => void ? All : never

/** Rows of one kind of fact, without the members that all facts have. */
type FactRows<Type extends VenueFact["type"]> = Rows<
  Omit<Extract<VenueFact, { readonly type: Type }>, "type" | keyof typeof ofAccount>
>

const seen = row("The object is checked member by member.")
const readersText = row("Text for readers: no decision depends on it.")
const known = row("It names an object: a message with an unknown name is quarantined (venueRefs.ts, ownerOfRef).")

const ofAccount = {
  account: row("It selects the client of the account (AccountClients.ts), and the object's account is checked."),
  sequence: row("Events of an account are applied once and in their order (EventDecisions.ts, decideIn).")
} satisfies Rows<Pick<AccountFact, "account" | "sequence">>
const type = row("The schema lists the types; a fact with the ref of another kind of object does not fit.")

const event: Rows<VenueEvent> = {
  number: row("Numbers grow by one, and a number far beyond the last one is quarantined (EventCursor.ts, believes)."),
  at: row(
    "It lies at most 5 s ahead of the venue's clock (EventJudge.ts, isAhead), no time in the event is later, and no new one is before the account's earlier events (timeChecks.ts, timeMisfit)."
  ),
  fact: seen
}

const order: FactRows<"order"> = { order: seen }
const fill: FactRows<"fill"> = { fill: seen, order: seen }
const funding: FactRows<"funding"> = { funding: seen }
const rfq: FactRows<"rfq"> = { rfq: seen }
const quote: FactRows<"quote"> = { rfqRef: known, quote: seen }
const contract: FactRows<"contract"> = { contract: seen }
const bust: FactRows<"bust"> = {
  tradeId: row(
    "It names a booked trade, or is quarantined; the trade stays booked, with a break (orderEvents.ts, busted)."
  ),
  orderId: row("Only the sentence of the break has it: the trade's own row names its order."),
  reason: readersText
}
const listing: FactRows<"listing"> = {
  version: row(
    "No decision depends on it: the listing is read again, and compared as a whole (MarketMirror.ts, isListed)."
  ),
  symbol: row("No decision depends on it: the listing is read again.")
}

const stamp: Rows<VenueFunding> = {
  symbol: row("Funding is paid on perpetuals that the account holds (fundingBooking.ts, bookFunding)."),
  settledAt: row(
    "It is a stamp of its market, no later than its event (EventJudge.ts, stampFault), posted once (fundingKey)."
  ),
  mark: row("It lies in the band of the marks about the stamp (unnamedVerdict.ts, stampVerdict)."),
  rate: row("It is no larger than a rate can be (fundingRules.ts, fundingFault)."),
  netQty: row(
    "Funding is paid on the service's own quantity; the missing trades settle a difference (fundingBooking.ts)."
  ),
  amount: row(
    "The service computes its own amount; another one is a difference of money (fundingBooking.ts, moneyComparison.ts)."
  )
}

const heartbeat: Rows<VenueHeartbeat> = {
  heartbeat: row("It identifies the line as a heartbeat."),
  version: row("A stream of another version is not read (venueLines.ts)."),
  number: row("A number far beyond the last one is quarantined (EventCursor.ts, heartbeat)."),
  at: row("Clocks that differ are aligned (ClockMeeting.ts).")
}

const outcome: Rows<Omit<VenueOutcome, VenueNounName>> = {
  ref: row("An answer with another ref than the requested one does not count (VenueCalls.ts, make)."),
  outcome: row("Neither UNKNOWN nor an execution without its object ends a call (outcomes.ts, definite)."),
  reason: readersText,
  at: row("It lies at most 5 s ahead of the venue's clock (verdict.ts, judgedOn); no booking has this time."),
  order: seen,
  rfq: seen,
  contract: seen,
  ...rowsOf(nounNames, (name) => [name, seen]),
  events: row(
    "It covers only the next events of the account, no more than its trades and a few reports (venueCalls.ts, coveredEvents)."
  ),
  fills: row("Each trade is checked like the trade of an event (orderVerdict.ts), after the trades before it.")
}

const offered: Rows<VenueQuote> = {
  id: row("It names the offer: an accept refers to this offer only."),
  dealer: readersText,
  price: row("It is checked when the offer is accepted (quoteAcceptance.ts), and the execution has this price."),
  qty: row("An offer that does not cover the request can't be accepted (quoteAcceptance.ts)."),
  at: row("No decision depends on it: quotes keep the order of their arrival (QuoteBoard.ts)."),
  validUntil: row("An expired quote can't be accepted (quoteAcceptance.ts)."),
  state: row("Only a live quote can be accepted (quoteAcceptance.ts).")
}

const trigger: Rows<(typeof VenueTrigger)["Type"]> = {
  source: row("Checked with the order's trigger (orderChecks.ts)."),
  price: row("Checked with the order's trigger (orderChecks.ts)."),
  direction: row("Checked with the order's trigger (orderChecks.ts).")
}

const compared = row(
  "The comparison opens a break where it differs from the service's own; it books nothing (reconciliation)."
)

const account: Rows<Omit<VenueAccount, NounList>> = {
  account: row("The response to a query for this account."),
  sequence: row("It gives the last event to read; events are checked one by one (AccountEvents.ts, readWhole)."),
  positions: compared,
  orders: compared,
  contracts: row("Each is compared with its frozen terms; a difference is a break (comparisonDecisions.ts)."),
  ...rowsOf(nounLists, (list) => [
    list,
    row("Each is compared with its own terms; a difference is a misfit (comparedNouns.ts).")
  ]),
  money: compared
}
const position: Rows<VenuePosition> = { symbol: compared, netQty: compared }
const money: Rows<VenueMoney> = { kind: compared, asset: compared, amount: compared }

/** Facts by type, with the members that all facts of an account have. */
const facts = {
  order: { type, ...ofAccount, ...order },
  fill: { type, ...ofAccount, ...fill },
  funding: { type, ...ofAccount, ...funding },
  rfq: { type, ...ofAccount, ...rfq },
  quote: { type, ...ofAccount, ...quote },
  contract: { type, ...ofAccount, ...contract },
  ...rowsOf(nounNames, (name) => [name, { type, ...ofAccount, [name]: seen }]),
  bust: { type, ...ofAccount, ...bust },
  listing: { type, ...listing }
} as const

/** The tables of each noun's messages, by schema name. */
const nounTables = {
  swap: swapTables
} satisfies { readonly [N in VenueNounName]: Readonly<Record<string, object>> }

type Tables = typeof nounTables
const tablesOfNouns: Together<Tables[keyof Tables]> = Object.assign({}, ...Object.values(nounTables))

/** The table of checks for each schema, by the schema's name. */
export const checkTable = {
  VenueEvent: event,
  VenueFunding: stamp,
  VenueHeartbeat: heartbeat,
  VenueOutcome: outcome,
  VenueTrigger: trigger,
  VenueOrder: orderChecks,
  VenueFill: fillChecks,
  VenueQuote: offered,
  VenueRfq: requestChecks,
  VenueContract: contractChecks,
  ...tablesOfNouns,
  VenuePosition: position,
  VenueMoney: money,
  VenueAccount: account
} as const

/** Further tables: facts by type, and the venue's own trades with their orders. */
export const factTable = facts
export const ownTables = { VenueFill: ownTradeChecks, VenueOrder: ownOrderChecks } as const
