/**
 * A tester's commands on the venue's books. Each returns what it did, or throws `CommandRefused` without changes. The server
 * handles faults of the transport, moods of dealers, and restarts (operator surface, `sim venue`).
 */
import { amountOf, groupedText, rateDecimals, signedUnitsOf, textOf } from "./texts.ts"
import { plural } from "../../../src/machines/shared/Text.ts"
import type { VenueChange, VenueCommand } from "../../../src/venue/VenueCommand.ts"
import {
  executionRefusal,
  faultRefusal,
  mostSpread,
  offerRefusal,
  pathRefusal,
  correctionRefusal,
  paymentRefusal,
  priceRefusal
} from "./bounds.ts"
import type { Listing } from "./Exchange.ts"
import { largestRate } from "./Funding.ts"
import { priceStamps } from "./fundingStamps.ts"
import { houseAccounts } from "./Makers.ts"
import { unitsOf } from "./Market.ts"
import { publishMarketData } from "./marketData.ts"
import type { Passing } from "./Passing.ts"
import type { HeldPrice, PathPoint } from "./Prices.ts"
import { owedOf } from "./Staking.ts"
import { readKnobs } from "./readKnobs.ts"
import { turnKnobs } from "./turnKnobs.ts"
import type { VenueParts } from "./VenueParts.ts"
import { putOffer } from "./Writers.ts"

/** A command that can't be executed, as a sentence for the tester. */
export class CommandRefused extends Error {}

const refuse = (sentence: string): never => {
  throw new CommandRefused(sentence)
}
const refuseIf = (sentence: string | null): void => {
  if (sentence !== null) refuse(sentence)
}

type Command<Type extends VenueCommand["type"]> = Extract<VenueCommand, { readonly type: Type }>

/** The effect of a command, without the venue's reactions; `id`: the id of the new object, null without one. */
type Done = Pick<VenueChange, "did" | "from" | "to" | "held"> & { readonly id: number | null }

const done = (did: string | null, more: Partial<Omit<Done, "did">> = {}): Done => ({
  did,
  id: null,
  from: null,
  to: null,
  held: [],
  ...more
})

const sources = { index: "INDEX", mark: "MARK", last: "LAST" } as const
const priceText = ({ market }: Listing, ticks: number): string => textOf(ticks, market.tickDecimals)

export class Commands {
  private readonly parts: VenueParts
  private readonly passing: Passing

  constructor(parts: VenueParts, passing: Passing) {
    this.parts = parts
    this.passing = passing
  }

  /** Executes a command; changes of market data are published at once. */
  run(command: VenueCommand): Done {
    const result = this.follow(command)
    if (command.type !== "advance") publishMarketData(this.parts)
    return result
  }

  private follow(command: VenueCommand): Done {
    switch (command.type) {
      case "price":
        return this.price(command)
      case "path":
        return this.path(command)
      case "book":
        return this.book(command)
      case "funding":
        return this.funding(command)
      case "execute":
        return this.execute(command)
      case "halt":
      case "resume":
        return this.halt(command)
      case "delist":
        return this.delist(command)
      case "offer":
        return this.offer(command)
      case "pay":
      case "correctFee":
        return this.swap(command)
      case "fault":
        return this.fault(command)
      case "clear":
        return this.clear()
      case "advance":
        return this.advance(command)
      case "set":
        return this.set(command)
      case "dealers":
      case "restart":
        return refuse(`${command.type} is the server's to follow, not the books'.`)
    }
  }

  private price({ symbol, price, only }: Command<"price">): Done {
    const listing = this.listing(symbol)
    const { base } = listing.market
    const held: ReadonlyArray<HeldPrice> = only === null ? ["index", "mark", "last"] : [only]
    const [before, after] = [listing.prices[sources[only ?? "mark"]], this.ticks(listing, price)]
    this.parts.prices.hold(base, held, after)
    this.passing.reprice(base)
    const [from, to] = [before === null ? null : priceText(listing, before), priceText(listing, after)]
    const named = only === null ? symbol : `${symbol} ${only}`
    const moved = `${from === null ? "no price" : groupedText(from)} → ${groupedText(to)}`
    return done(`${named} ${moved} (held)`, { from, to, held })
  }

  private path({ symbol, points }: Command<"path">): Done {
    const listing = this.listing(symbol)
    const { base } = listing.market
    const played = points.map(({ offsetMs, price }): PathPoint => ({
      offsetMillis: offsetMs,
      price: this.ticks(listing, price)
    }))
    const late = played.findIndex(({ offsetMillis }, n) => offsetMillis < (played[n - 1]?.offsetMillis ?? 0))
    if (played.length === 0) refuse("A path needs a point.")
    if (late >= 0) refuse(`Point ${late + 1} of the path lies before the one ahead of it.`)
    refuseIf(pathRefusal(played.at(-1)?.offsetMillis ?? 0))
    this.parts.prices.play(base, this.parts.clock.now, played)
    this.passing.reprice(base)
    const [begin, end] = [played[0], played.at(-1)].map((point) => priceText(listing, point?.price ?? 0))
    const seconds = groupedText(textOf(played.at(-1)?.offsetMillis ?? 0, 3))
    const from = `from ${groupedText(begin ?? "")} to ${groupedText(end ?? "")}`
    return done(`${base} follows ${plural(played.length, "point")} ${from} within ${seconds} s`)
  }

  private book({ symbol, size, levels, spread }: Command<"book">): Done {
    const listing = this.listing(symbol)
    const usual = this.parts.makers.shapeOf(symbol)
    const { market } = listing
    const lots = unitsOf(size, market.lotDecimals)
    if (usual === null) return refuse(`${symbol} has no book.`)
    if (lots === null) return refuse(`The size ${size} is off the grid of ${symbol}.`)
    if (lots > market.maxQty) return refuse(`The size ${size} is more than one order of ${symbol} may have.`)
    const shape = { ...usual, levels: levels ?? usual.levels, spread: spread ?? usual.spread, size: lots }
    if (shape.levels < 0 || shape.levels > 100) return refuse("A book has 0 to 100 levels.")
    if (shape.spread < 1) return refuse("The spread is at least one tick.")
    if (shape.spread > mostSpread) return refuse("The spread is at most 1,000,000 ticks.")
    this.parts.makers.shape(symbol, shape)
    if (lots === 0 || shape.levels === 0) return done(`the simulator's own book of ${symbol} is empty`)
    const sides = `${plural(shape.levels, "level")} of at most ${textOf(lots, market.lotDecimals)} on each side`
    return done(`the simulator's own book of ${symbol} has ${sides}, ${plural(shape.spread, "tick")} apart`)
  }

  private funding({ symbol, rate }: Command<"funding">): Done {
    const rates = this.parts.funding.get(this.listing(symbol).market.symbol)
    const held = signedUnitsOf(rate, rateDecimals)
    if (rates === undefined) return refuse(`${symbol} has no funding.`)
    if (held === null) return refuse(`The rate ${rate} has more than eight places.`)
    const most = textOf(largestRate, rateDecimals)
    if (Math.abs(held) > largestRate) return refuse(`A rate lies between -${most} and ${most}.`)
    const [from, to] = [textOf(rates.rate, rateDecimals), textOf(held, rateDecimals)]
    rates.hold(held)
    return done(`${symbol} funding rate ${from} → ${to} (held)`, { from, to })
  }

  private execute({ account: name, symbol, qty, price, reason }: Command<"execute">): Done {
    const listing = this.listing(symbol)
    const account = this.parts.accountNamed(name)
    const lots = signedUnitsOf(qty, listing.market.lotDecimals)
    const at = price === null ? listing.prices.MARK : this.ticks(listing, price)
    if (account === null) return refuse(`No account ${name}.`)
    if (listing.market.family === "BARRIER") return refuse(`${symbol} has contracts, not positions.`)
    if (lots === null || lots === 0) return refuse(`The quantity ${qty} is off the grid of ${symbol}.`)
    if (at === null) return refuse(`${symbol} has no mark yet.`)
    refuseIf(executionRefusal(this.parts, listing, { accountId: account.id, lots }))
    const side = lots > 0 ? "BUY" : "SELL"
    const { order } = this.parts.exchange.execute(listing, {
      accountId: account.id,
      against: houseAccounts.venue,
      side,
      price: at,
      quantity: Math.abs(lots),
      reason
    })
    if (reason === "liquidation" && !listing.lastHeld) {
      listing.prices.LAST = at
      this.parts.exchange.touch(listing, ["LAST"])
    }
    const traded = `${side === "BUY" ? "bought" : "sold"} ${textOf(Math.abs(lots), listing.market.lotDecimals)} ${symbol}`
    const atPrice = groupedText(priceText(listing, at))
    return done(`the account ${traded} at ${atPrice} (${reason})`, { id: order.id })
  }

  private halt({ type, symbol }: Command<"halt" | "resume">): Done {
    const { parts } = this
    const staking = parts.staking.markets.get(symbol)
    const halting = type === "halt"
    if (staking !== undefined) {
      if (staking.delisted) return refuse(`${symbol} is delisted.`)
      if (staking.enabled !== halting) return refuse(`${symbol} is ${halting ? "halted already" : "not halted"}.`)
      staking.enabled = !halting
    } else {
      const listing = this.listing(symbol)
      if ((listing.halt !== null) === halting)
        return refuse(`${symbol} is ${halting ? "halted already" : "not halted"}.`)
      listing.halt = halting ? { since: parts.clock.now } : null
      if (!halting) this.resumed(listing)
    }
    parts.publishListing(symbol)
    return done(`${symbol} ${halting ? "is halted" : "trades again"}`)
  }

  private delist({ symbol }: Command<"delist">): Done {
    const { parts } = this
    let did: string
    if (parts.staking.markets.has(symbol)) {
      if (parts.stakingMarket(symbol).delisted) return refuse(`${symbol} is delisted.`)
      const settled = [...parts.staking.open].filter((swap) => swap.symbol === symbol).length
      parts.staking.delist(symbol, 10_000, parts.clock.now)
      did = `${symbol} is delisted; ${plural(settled, "swap")} settled`
    } else {
      const listing = this.listing(symbol)
      const price = listing.prices.MARK
      if (price === null) return refuse(`${symbol} has no mark yet.`)
      parts.makers.withdraw(listing)
      parts.exchange.delist(listing, price, houseAccounts.venue)
      this.endContracts(listing, price)
      did = `${symbol} is delisted at ${groupedText(priceText(listing, price))}`
    }
    parts.publishListing(symbol)
    return done(did)
  }

  /** Ends the open requests of a delisted market, and its contracts at the final price. */
  private endContracts({ market: { symbol } }: Listing, price: number): void {
    const { rfqs, contracts, clock } = this.parts
    for (const rfq of rfqs.openOnes()) if (rfq.symbol === symbol) rfqs.end(rfq, "CANCELLED", "market delisted")
    const open = contracts.get(symbol)
    for (const contract of open?.all() ?? []) {
      open?.end(contract, "CLOSED", price, clock.now)
      this.parts.contractEnded(contract)
    }
  }

  private offer({ symbol, rateBps, tenorDays, qty }: Command<"offer">): Done {
    const market = this.parts.staking.markets.get(symbol)
    if (market === undefined || market.delisted) return refuse(`No staking market ${symbol}.`)
    const amount = amountOf(qty, market.scale)
    if (amount === null || amount <= 0n || amount % market.qtyStep !== 0n)
      return refuse(`The quantity ${qty} is off the grid of ${symbol}.`)
    if (amount < market.minQty) return refuse(`The quantity ${qty} is less than ${symbol} lets anyone take.`)
    if (tenorDays < market.minTenorDays || tenorDays > market.maxTenorDays)
      return refuse(`${symbol} has ${market.minTenorDays} to ${market.maxTenorDays} days.`)
    if (rateBps < 1 || rateBps > market.maxRateBps)
      return refuse(`${symbol} has 1 to ${market.maxRateBps} basis points.`)
    refuseIf(offerRefusal(this.parts, symbol, amount))
    const { id } = putOffer(this.parts, { symbol, rateBps, tenorDays, qty: amount })
    const terms = `${textOf(amount, market.scale)} ${market.asset} at ${rateBps} bps for ${plural(tenorDays, "day")}`
    return done(`offer ${id}: ${terms}`, { id })
  }

  private swap(command: Command<"pay" | "correctFee">): Done {
    const { staking, balances, clock } = this.parts
    const swap = staking.swaps.get(command.contractId)
    if (swap === undefined) return refuse(`No swap ${command.contractId}.`)
    const { asset, scale } = this.parts.stakingMarket(swap.symbol)
    const text = command.type === "pay" ? command.amount : command.fee
    const amount = text === null ? owedOf(swap) : amountOf(text, scale)
    if (amount === null) return refuse(`${text} has more than ${scale} places.`)
    if (command.type === "pay") {
      if (amount <= 0n) return refuse("Nothing is owed.")
      refuseIf(paymentRefusal(swap))
      staking.pay(swap, amount, clock.now)
      const owed = `${textOf(owedOf(swap), scale)} ${asset} is owed`
      return done(`swap ${swap.id} received ${textOf(amount, scale)} ${asset}; ${owed}`)
    }
    if (amount > swap.notional) return refuse("A fee is at most what was taken.")
    refuseIf(correctionRefusal(swap))
    const [from, to] = [textOf(swap.fee, scale), textOf(amount, scale)]
    balances.move("swaps", swap.accountId, houseAccounts.venue, asset, amount - swap.fee)
    staking.correctFee(swap, amount, clock.now)
    return done(`fee of swap ${swap.id} ${from} → ${to} ${asset}`, { from, to })
  }

  private fault(order: Command<"fault">): Done {
    const { kind, forMillis, times } = order
    const isFunding = kind === "unpriced-funding"
    if (kind !== "writer-default" && !isFunding) return refuse(`${kind} is the server's to follow, not the books'.`)
    refuseIf(faultRefusal(order))
    const until = forMillis === null ? null : this.parts.clock.now + forMillis
    if (isFunding) {
      if (times !== null) return refuse("unpriced-funding lasts for a time or until clear.")
      this.parts.settings.unpricedFunding = { until }
      return done(null)
    }
    this.parts.settings.writersDefault = { until, times }
    return done(null)
  }

  private clear(): Done {
    const { parts } = this
    const ended = { held: 0, paths: 0, halts: 0 }
    parts.settings.writersDefault = null
    priceStamps(parts, true)
    for (const funding of parts.funding.values()) funding.release()
    for (const base of parts.listingsOf.keys()) {
      if (Object.values(parts.prices.heldOf(base)).some((held) => held !== null)) ended.held++
      if (parts.prices.hasPath(base)) ended.paths++
      parts.prices.release(base)
      parts.prices.stop(base)
    }
    for (const { symbol, enabled, delisted } of parts.staking.markets.values())
      if (!enabled && !delisted) {
        ended.halts++
        this.halt({ type: "resume", symbol })
      }
    for (const listing of parts.exchange.listings.values()) {
      if (listing.delisted) continue
      parts.makers.restore(listing.market.symbol)
      if (listing.halt === null) continue
      ended.halts++
      this.halt({ type: "resume", symbol: listing.market.symbol })
    }
    for (const base of parts.listingsOf.keys()) this.passing.reprice(base)
    const { held, paths, halts } = ended
    const list = [`held prices of ${plural(held, "base")}`, plural(paths, "path"), plural(halts, "halt")]
    return done(`ended: ${list.join(", ")}; books and funding as usual`)
  }

  private advance({ to }: Command<"advance">): Done {
    if (to < this.parts.clock.now) return refuse("Time never goes back.")
    this.passing.pass(to)
    return done(null)
  }

  private set({ knobs: text }: Command<"set">): Done {
    const read = readKnobs(text)
    if (!read.ok) return refuse(read.message)
    const refusal = turnKnobs(this.parts, read.value)
    if (refusal !== null) return refuse(refusal)
    for (const base of this.parts.listingsOf.keys()) {
      this.parts.prices.release(base)
      this.passing.reprice(base)
    }
    const names = Object.keys(read.value)
    return done(`set: ${names.length === 0 ? "nothing" : names.join(", ")}; no price is held`)
  }

  private resumed(listing: Listing): void {
    this.parts.makers.quote(listing)
    this.parts.exchange.touch(listing, ["INDEX", "MARK", "LAST"])
  }

  private listing(symbol: string): Listing {
    const listing = this.parts.exchange.listings.get(symbol)
    if (listing === undefined) return refuse(`No market ${symbol}.`)
    return listing.delisted ? refuse(`${symbol} is delisted.`) : listing
  }

  private ticks(listing: Listing, price: string): number {
    const { market } = listing
    const ticks = unitsOf(price, market.tickDecimals)
    if (ticks === null || ticks === 0) return refuse(`The price ${price} is off the grid of ${market.symbol}.`)
    refuseIf(priceRefusal(this.parts, listing, ticks))
    return ticks
  }
}
