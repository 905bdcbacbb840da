/**
 * Executes the calls of the venue's clients (src/machines/venue/venueCalls). A ref is executed at most once; repeated calls
 * return its outcome. Texts become ticks, lots and minor units here; values off the grid are refused with a reason (A2-26,
 * A2-111).
 */
import type { VenueCallName, VenueOutcome } from "../../../src/machines/venue/venueCalls.ts"
import type { NounCallName } from "../../../src/machines/venue/venueNouns.ts"
import type { Account } from "./Account.ts"
import type { Contract } from "./Contracts.ts"
import type { Listing } from "./Exchange.ts"
import { unitsOf } from "./Market.ts"
import type { Order, Trigger } from "./Order.ts"
import { type Answer, type CallHandlers, executed, refused } from "./NounBooks.ts"
import type { Known, Subject } from "./Refs.ts"
import type { Rfq } from "./Rfqs.ts"
import type { VenueCall } from "./VenueInput.ts"
import type { VenueParts } from "./VenueParts.ts"
import { wireContract, wireOrder, wireRfq } from "./wire.ts"

const mostAccounts = 1_000_000
/** Limit on live orders, and on live requests for quotes, of one account. */
const mostOrders = 10_000
const mostRequests = 1_000
/** Limit on a request's window, ms: the day that a client may request, and one more day for differing clocks. */
const longestWindow = 2 * 86_400_000
/** Limit on characters of a group's name. */
const longestGroup = 64

export class Calls {
  private readonly parts: VenueParts
  private readonly acts: CallHandlers<Exclude<VenueCallName, "openAccount">>

  constructor(parts: VenueParts) {
    this.parts = parts
    this.acts = Object.assign({}, this.handlers, ...parts.nouns.map(({ books }) => books.calls))
  }

  call(call: VenueCall): VenueOutcome {
    return this.once(call, () => this.handle(call))
  }

  /** Settles a call as refused for a reason outside the books. The quote of a refused accept expires. */
  decline(call: VenueCall, reason: string): VenueOutcome {
    return this.once(call, () => {
      if (call.name !== "acceptQuote") return refused(reason)
      const rfq = this.parts.rfqs.byRef.get(call.request.target)
      if (rfq === undefined) return refused(reason)
      this.parts.rfqs.expire(rfq, call.request.quoteId)
      return refused(reason, { rfq: rfq.id })
    })
  }

  /** Prevents the later execution of refs that have not arrived; returns the outcome of each. */
  void(refs: ReadonlyArray<string>): ReadonlyArray<VenueOutcome> {
    const at = this.parts.clock.now
    return refs.map((ref) => this.outcomeOf(ref, this.parts.refs.settle(ref, { outcome: "VOID", reason: null, at })))
  }

  lookup(refs: ReadonlyArray<string>): ReadonlyArray<VenueOutcome> {
    return refs.map((ref) => this.outcomeOf(ref, this.parts.refs.get(ref)))
  }

  private once({ request: { ref } }: VenueCall, act: () => Answer): VenueOutcome {
    const known = this.parts.refs.get(ref)
    if (known !== null) return this.outcomeOf(ref, known)
    const { refusal, subject } = act()
    const at = this.parts.clock.now
    const outcome = refusal === null ? "EXECUTED" : "REFUSED"
    return this.outcomeOf(ref, this.parts.refs.settle(ref, { outcome, reason: refusal, at, ...subject }))
  }

  private handle(call: VenueCall): Answer {
    if (call.name === "openAccount") return this.openAccount(call.request.account)
    const account = this.parts.accountNamed(call.request.account)
    if (account === null) return refused("unknown account")
    const act = this.acts[call.name] as (request: VenueCall["request"], account: Account) => Answer
    return act(call.request, account)
  }

  private openAccount(name: string): Answer {
    const { accountIds, exchange } = this.parts
    if (!accountIds.has(name) && accountIds.size >= mostAccounts) return refused("too many accounts")
    const id = accountIds.get(name) ?? accountIds.size + 1
    accountIds.set(name, id)
    exchange.open(id, name)
    return executed({})
  }

  private readonly handlers: CallHandlers<Exclude<VenueCallName, NounCallName | "openAccount">> = {
    placeOrder: (request, account) => {
      const { ref, symbol, side, tif, reduceOnly, group } = request
      const listing = this.parts.exchange.listings.get(symbol)
      if (listing === undefined) return refused("unknown market")
      const { tickDecimals, lotDecimals } = listing.market
      const quantity = unitsOf(request.qty, lotDecimals)
      if (quantity === null) return refused("quantity off the grid")
      const price = request.price === null ? null : unitsOf(request.price, tickDecimals)
      if (price === null && request.price !== null) return refused("price off the grid")
      const trigger = triggerOf(request.trigger, tickDecimals)
      if (trigger === "off the grid") return refused("trigger price off the grid")
      if (account.orders.size >= mostOrders) return refused("too many orders")
      if (group !== null && group.length > longestGroup) return refused("group name too long")
      const { boundBps } = request
      if (boundBps !== undefined && trigger === null) return refused("bound without a trigger")
      const terms = { ref, accountId: account.id, symbol, side, price, quantity, tif, reduceOnly, trigger, group }
      const { reject = 0 } = this.parts.settings.orders[symbol] ?? {}
      // The random number is drawn only if the knob is set, so that without it the call uses no randomness.
      const order = this.parts.exchange.place(
        boundBps === undefined ? terms : { ...terms, boundBps },
        () => reject > 0 && this.parts.streams.orders.chance(reject)
      )
      return { refusal: order.state === "REJECTED" ? order.reason : null, subject: { order: ref } }
    },
    cancelOrder: ({ target }, account) => {
      const order = this.orderOf(target, account)
      if (order === null) return refused("unknown order")
      return this.parts.exchange.cancel(order)
        ? executed({ order: target })
        : refused("order has ended", { order: target })
    },
    amendOrder: ({ target, qty, boundBps }, account) => {
      const order = this.orderOf(target, account)
      if (order === null) return refused("unknown order")
      const subject = { order: target }
      const quantity = unitsOf(qty, this.parts.listing(order.symbol).market.lotDecimals)
      if (quantity === null) return refused("quantity off the grid", subject)
      return { refusal: this.parts.exchange.amend(order, quantity, boundBps), subject }
    },
    requestQuotes: (request, account) => {
      const listing = this.parts.exchange.listings.get(request.symbol)
      if (listing?.market.family !== "BARRIER") return refused("unknown market")
      const { tickDecimals, lotDecimals } = listing.market
      const quantity = unitsOf(request.qty, lotDecimals)
      const barrier = unitsOf(request.barrier, tickDecimals)
      const takeProfit = request.takeProfit === null ? null : unitsOf(request.takeProfit, tickDecimals)
      if (quantity === null || quantity === 0) return refused("quantity off the grid")
      if (barrier === null || barrier === 0) return refused("barrier off the grid")
      if (takeProfit === null && request.takeProfit !== null) return refused("take profit off the grid")
      const { ref, symbol, side, expiryAt, strict, premiumBps, windowEndsAt } = request
      const terms = { symbol, side, quantity, barrier, takeProfit, expiryAt, strict, premiumBps, windowEndsAt }
      const refusal = this.requestRefusal(listing, terms)
      return refusal === null ? this.request({ ...terms, ref, accountId: account.id, closes: null }) : refused(refusal)
    },
    requestClose: ({ ref, contractId, windowEndsAt }, account) => {
      const contract = this.contractOf(contractId, account)
      if (contract === null) return refused("unknown contract")
      if (contract.state !== "OPEN") return refused("contract has ended", { contract: contractId })
      const { symbol, side, quantity, barrier, takeProfit, expiryAt, strict, premiumBps } = contract
      const terms = { symbol, side, quantity, barrier, takeProfit, expiryAt, strict, premiumBps, windowEndsAt }
      const closes = { id: contract.id, dealer: contract.dealer }
      return this.request({ ...terms, ref, accountId: account.id, closes }, { contract: contractId })
    },
    cancelRequest: ({ target }, account) => {
      const rfq = this.rfqOf(target, account)
      if (rfq === null) return refused("unknown request")
      const subject = { rfq: rfq.id }
      return this.parts.rfqs.end(rfq, "CANCELLED", "cancelled by the account")
        ? executed(subject)
        : refused("request not open", subject)
    },
    acceptQuote: ({ ref, target, quoteId }, account) => {
      const rfq = this.rfqOf(target, account)
      if (rfq === null) return refused("unknown request")
      const listing = this.parts.listing(rfq.symbol)
      if (listing.halt !== null && rfq.closes === null) return refused("market halted", { rfq: rfq.id })
      const quote = this.parts.rfqs.judge(rfq, quoteId, this.parts.clock.now)
      if (typeof quote === "string") return refused(quote, { rfq: rfq.id })
      const closed = rfq.closes === null ? null : this.contractOf(rfq.closes.id, account)
      if (closed === null && rfq.expiryAt <= this.parts.clock.now) return refused("expiry is past", { rfq: rfq.id })
      const contract = closed ?? this.openContract(listing, rfq, { ref, dealer: quote.dealer, entry: quote.price })
      this.parts.rfqs.accepted(rfq, quote)
      if (closed !== null) this.endContract(closed, "EARLY_CLOSE", quote.price)
      return executed({ rfq: rfq.id, contract: contract.id })
    },
    tearUp: ({ contractId }, account) => {
      const contract = this.contractOf(contractId, account)
      if (contract === null) return refused("unknown contract")
      const subject = { contract: contractId }
      if (contract.state !== "OPEN") return refused("contract has ended", subject)
      const mark = this.parts.listing(contract.symbol).prices.MARK
      if (mark === null) return refused("no market", subject)
      this.endContract(contract, "TORN_UP", mark)
      return executed(subject)
    }
  }

  /**
   * The reason to refuse a request for a knock-out contract, or null. The barrier must lie on the side of a loss, a take profit
   * on the side of a profit.
   */
  private requestRefusal(
    { market, prices, halt, delisted }: Listing,
    terms: Pick<Rfq, "side" | "quantity" | "barrier" | "takeProfit" | "expiryAt" | "premiumBps">
  ): string | null {
    const { now } = this.parts.clock
    if (delisted) return "market delisted"
    if (halt !== null) return "market halted"
    if (terms.quantity < market.minQty) return "quantity too small"
    if (terms.quantity > market.maxQty) return "quantity too large"
    if (terms.premiumBps < 1 || terms.premiumBps > 10_000) return "premium share out of range"
    if (terms.expiryAt <= now) return "expiry is past"
    const sign = terms.side === "BUY" ? 1 : -1
    if (prices.MARK === null) return "no market"
    if ((prices.MARK - terms.barrier) * sign <= 0) return "barrier on the wrong side"
    if (terms.takeProfit !== null && (terms.takeProfit - prices.MARK) * sign <= 0)
      return "take profit on the wrong side"
    return null
  }

  /** Opens a request for quotes and schedules the end of its window; `of` is the contract of a request to close. */
  private request(terms: Parameters<VenueParts["rfqs"]["request"]>[0], of: Subject = {}): Answer {
    const { rfqs, agenda, clock } = this.parts
    if (terms.windowEndsAt <= clock.now) return refused("window over", of)
    if (terms.windowEndsAt - clock.now > longestWindow) return refused("window too long", of)
    if (rfqs.openOf(terms.accountId) >= mostRequests) return refused("too many requests", of)
    const rfq = rfqs.request(terms, clock.now)
    agenda.add(rfq.windowEndsAt, { type: "window", rfqId: rfq.id })
    this.parts.publishRfq(rfq)
    return executed({ rfq: rfq.id })
  }

  private openContract(
    listing: Listing,
    rfq: Rfq,
    of: { readonly ref: string; readonly dealer: string; readonly entry: number }
  ): Contract {
    const { exchange, clock } = this.parts
    const { accountId, symbol, side, quantity, barrier, takeProfit, expiryAt, strict, premiumBps } = rfq
    const contract: Contract = {
      id: ++this.parts.lastContract,
      tradeId: ++exchange.ids.trade,
      accountId,
      ...of,
      symbol,
      side,
      quantity,
      barrier,
      takeProfit,
      expiryAt,
      strict,
      premiumBps,
      openedAt: clock.now,
      state: "OPEN",
      settlePrice: null,
      endedAt: null,
      waits: null
    }
    this.parts.watch(contract)
    const { tradeId, entry: price } = contract
    this.parts.print({ tradeId, price, quantity, side, reason: null }, listing, listing.prices.MARK ?? price)
    this.parts.publishContract(contract)
    return contract
  }

  private endContract(contract: Contract, state: "EARLY_CLOSE" | "TORN_UP", price: number): void {
    this.parts.contracts.get(contract.symbol)?.end(contract, state, price, this.parts.clock.now)
    this.parts.contractEnded(contract)
  }

  private orderOf(ref: string, account: Account): Order | null {
    const order = this.parts.exchange.orders.get(ref)
    return order?.accountId === account.id ? order : null
  }

  private rfqOf(ref: string, account: Account): Rfq | null {
    const rfq = this.parts.rfqs.byRef.get(ref)
    return rfq?.accountId === account.id ? rfq : null
  }

  private contractOf(id: number, account: Account): Contract | null {
    const contract = this.parts.contractById.get(id)
    return contract?.accountId === account.id ? contract : null
  }

  /** A ref's outcome with the current state of its object. */
  private outcomeOf(ref: string, known: Known | null): VenueOutcome {
    const { parts } = this
    const order = known?.order === undefined ? undefined : parts.exchange.orders.get(known.order)
    const rfq = known?.rfq === undefined ? undefined : parts.rfqs.byId.get(known.rfq)
    const contract = known?.contract === undefined ? undefined : parts.contractById.get(known.contract)
    const market = (symbol: string) => parts.listing(symbol).market
    const name = ({ accountId }: { readonly accountId: number }) => parts.accountOf(accountId).name
    return {
      ref,
      outcome: known?.outcome ?? "UNKNOWN",
      reason: known?.reason ?? null,
      at: known?.at ?? parts.clock.now,
      order: order === undefined ? null : wireOrder(market(order.symbol), name(order), order),
      rfq: rfq === undefined ? null : wireRfq(market(rfq.symbol), name(rfq), rfq),
      contract: contract === undefined ? null : wireContract(market(contract.symbol), name(contract), contract),
      ...parts.nounsShown(known ?? {})
    }
  }
}

const triggerOf = (
  trigger: {
    readonly source: Trigger["source"]
    readonly price: string
    readonly direction: Trigger["direction"]
  } | null,
  decimals: number
): Trigger | null | "off the grid" => {
  if (trigger === null) return null
  const price = unitsOf(trigger.price, decimals)
  return price === null || price === 0 ? "off the grid" : { ...trigger, price }
}
