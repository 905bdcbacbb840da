/**
 * The check of every member of every venue message, or the reason why it has none. Market data has no checks here, because no
 * request precedes it: the mirrors check it (MarketMirror.ts).
 */
import type { VenueOutcome } from "../venue/venueCalls.ts"
import type { AccountFact, VenueEvent, VenueFact, VenueFunding, VenueHeartbeat } from "../venue/VenueEvent.ts"
import type {
  VenueAccount,
  VenueFeeCorrection,
  VenueMoney,
  VenuePayment,
  VenuePosition,
  VenueQuote,
  VenueTrigger
} from "../venue/venueObjects.ts"
import type { Unchecked } from "./check.ts"
import { contractChecks } from "./contractChecks.ts"
import { fillChecks } from "./fillChecks.ts"
import { orderChecks } from "./orderChecks.ts"
import { ownOrderChecks, ownTradeChecks } from "./ownTradeChecks.ts"
import { requestChecks } from "./requestChecks.ts"
import { swapChecks } from "./swapChecks.ts"

/** Rows for messages that other code checks, or that no decision depends on. */
type Rows<Message> = { readonly [Member in keyof Message]-?: Unchecked }
/** Rows for one kind of fact, besides the members of all facts. */
type FactRows<Type extends VenueFact["type"]> = Rows<
  Omit<Extract<VenueFact, { readonly type: Type }>, "type" | keyof typeof ofAccount>
>

const row = (because: string): Unchecked => ({ because })
const seen = row("The object is checked member by member.")
const words = row("Words for people: they decide nothing.")
const known = row("It is a name: what it names is found by it, or set aside (venueRefs.ts, ownerOfRef).")

const ofAccount = {
  account: row("The client whose account it is takes it (AccountClients.ts), and the object's account is checked."),
  sequence: row("Events of an account are taken once and in their order (EventDecisions.ts, decideIn).")
} satisfies Rows<Pick<AccountFact, "account" | "sequence">>
const type = row("The schema knows the types; a fact under the name of another kind of object does not fit.")

const event: Rows<VenueEvent> = {
  number: row("Numbers grow by one, and one that is far beyond is set aside (EventCursor.ts, believes)."),
  at: row("It lies at most 5 s ahead of the venue's clock (EventJudge.ts, isAhead), and what it brings lies no later."),
  fact: seen
}

const order: FactRows<"order"> = { order: seen }
const fill: FactRows<"fill"> = { fill: seen, order: seen }
const funding: FactRows<"funding"> = { funding: seen }
const rfq: FactRows<"rfq"> = { rfq: seen }
const quote: FactRows<"quote"> = { rfqRef: known, quote: seen }
const contract: FactRows<"contract"> = { contract: seen }
const swap: FactRows<"swap"> = { swap: seen }
const bust: FactRows<"bust"> = {
  tradeId: row(
    "It names a trade that is booked, or is set aside; the trade stays booked, with a break (orderHears.ts, busted)."
  ),
  orderId: row("It stands in the sentence of the break: the trade's own row names its order."),
  reason: words
}
const listing: FactRows<"listing"> = {
  version: row("It decides nothing: the listing is read again, and compared as a whole (MarketMirror.ts, isListed)."),
  symbol: row("It decides nothing: the listing is read again.")
}

const stamp: Rows<VenueFunding> = {
  symbol: row("Funding is paid on perpetuals that the account holds (fundingBooking.ts, bookFunding)."),
  settledAt: row(
    "It is a stamp of its market, no later than its event (EventJudge.ts, stampFault), posted once (fundingKey)."
  ),
  mark: row("It lies in the band of the marks about the stamp (unnamedVerdict.ts, stampVerdict)."),
  rate: row("It is no larger than a rate can be (fundingRules.ts, fundingFault)."),
  netQty: row(
    "Our own quantity is paid on; another one is settled by the trades that are missing (fundingBooking.ts)."
  ),
  amount: row(
    "The service works out its own; another one is a difference of money (fundingBooking.ts, moneyComparison.ts)."
  )
}

const heartbeat: Rows<VenueHeartbeat> = {
  heartbeat: row("It names the line."),
  version: row("A stream of another version is not read (venueLines.ts)."),
  number: row("A number far beyond the last one is quarantined (EventCursor.ts, heard)."),
  at: row("Clocks that lie apart are brought together (ClockMeeting.ts).")
}

const outcome: Rows<VenueOutcome> = {
  ref: row("An answer with another ref than the requested one does not count (VenueCalls.ts, make)."),
  outcome: row("UNKNOWN, and an execution that is not shown, are no end of a call (outcomes.ts, definite)."),
  reason: words,
  at: row("It lies at most 5 s ahead of the venue's clock (verdict.ts, judgedOn); nothing is booked at it."),
  order: seen,
  rfq: seen,
  contract: seen,
  swap: seen,
  events: row("Only the next events of the account count as taken by it (outcomes.ts, takeItsEvents)."),
  fills: row("Each trade is checked as that of an event (orderVerdict.ts), after the trades before it.")
}

const offered: Rows<VenueQuote> = {
  id: row("It names the offer: an accept is of it alone."),
  dealer: words,
  price: row("An offer: it is judged when it is accepted (quoteAcceptance.ts), and what is executed has this price."),
  qty: row("It covers the request, or it can't be accepted (quoteAcceptance.ts)."),
  at: row("It decides nothing: quotes are taken in the order in which they came (QuoteBoard.ts)."),
  validUntil: row("One that is over can't be accepted (quoteAcceptance.ts)."),
  state: row("Only a live one can be accepted (quoteAcceptance.ts).")
}

const trigger: Rows<(typeof VenueTrigger)["Type"]> = {
  source: row("Checked with the order's trigger (orderChecks.ts)."),
  price: row("Checked with the order's trigger (orderChecks.ts)."),
  direction: row("Checked with the order's trigger (orderChecks.ts).")
}

const payment: Rows<(typeof VenuePayment)["Type"]> = {
  id: row("A payment is booked once by it (swapHears.ts, paymentsIn)."),
  amount: row(
    "It is the client's; what it brings beyond the outstanding is a break, and so is another amount later (D8)."
  ),
  at: row("It lies between the opening and the present time; the row of the swap checks it.")
}

const correction: Rows<(typeof VenueFeeCorrection)["Type"]> = {
  id: row("A correction is booked once by it (swapHears.ts, feesIn)."),
  fee: row("Beyond the notional it does not fit (swapChecks.ts); above the listed rate the excess is a break (D8)."),
  at: row("It lies between the opening and the present time; the row of the swap checks it.")
}

const compared = row(
  "The comparison opens a break where it differs from ours; nothing is booked by it (reconciliation)."
)

const account: Rows<VenueAccount> = {
  account: row("The answer to a question for this account."),
  sequence: row("It says how far the events are to be read; they are judged one by one (AccountEvents.ts, readWhole)."),
  positions: compared,
  orders: compared,
  contracts: row("Each is compared with its frozen terms; a difference is a break (comparisonDecisions.ts)."),
  swaps: row("Each is compared with its frozen terms; a difference is a misfit (swapComparison.ts)."),
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
  swap: { type, ...ofAccount, ...swap },
  bust: { type, ...ofAccount, ...bust },
  listing: { type, ...listing }
} as const

/** Tables by schema name. */
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
  VenuePayment: payment,
  VenueFeeCorrection: correction,
  VenueSwap: swapChecks,
  VenuePosition: position,
  VenueMoney: money,
  VenueAccount: account
} as const

/** Further tables: facts by type, and the venue's own trades with their orders. */
export const factTable = facts
export const ownTables = { VenueFill: ownTradeChecks, VenueOrder: ownOrderChecks } as const
