/** A venue with prices held at 60,000 USDC per BTC and with clients, and short functions for commands and calls. */
import { Venue } from "../../simulator/venue/core/Venue.ts"
import type { VenueInput } from "../../simulator/venue/core/VenueInput.ts"
import type { VenueKnobs } from "../../simulator/venue/core/VenueKnobs.ts"
import type { ChannelMessage } from "../../src/machines/venue/marketData.ts"
import type { VenueCallName, VenueOutcome, VenueRequest } from "../../src/machines/venue/venueCalls.ts"
import type { VenueEvent } from "../../src/machines/venue/VenueEvent.ts"
import type { VenueCommand } from "../../src/venue/VenueCommand.ts"
import { startAt, venueOptions } from "./venueInputs.ts"

type Parts<Name extends VenueCallName> = Partial<VenueRequest<Name>>

export const opened = (knobs: VenueKnobs = {}, start = startAt) => {
  const events: Array<VenueEvent> = []
  const messages: Array<ChannelMessage> = []
  /** Both kinds in the order of publication. */
  const published: Array<ChannelMessage | VenueEvent> = []
  const options = venueOptions({ tickMillis: 1_000, startAt: start, knobs: { takers: 0, ...knobs } })
  const venue = new Venue(options, {
    event: (event) => {
      events.push(event)
      published.push(event)
    },
    market: (message) => {
      messages.push(message)
      published.push(message)
    }
  })
  let refs = 0
  const call = (name: VenueCallName, request: object): VenueOutcome => {
    const input = { type: "call", name, request: { ref: `N-${++refs}`, account: "CL-1", ...request } } as VenueInput
    const [outcome] = venue.apply(input).outcomes
    if (outcome === undefined) throw new Error("a call is always answered")
    return outcome
  }
  /** Applies a command; throws a refusal. */
  const command = (asked: VenueCommand): number | null => {
    const { id, refusal } = venue.apply({ type: "command", command: asked })
    if (refusal !== null) throw new Error(refusal)
    return id
  }
  const refusal = (asked: VenueCommand): string | null => venue.apply({ type: "command", command: asked }).refusal
  const tick = (millis = 1_000): void => void venue.apply({ type: "time", to: venue.now + millis })
  const place = (parts: Parts<"placeOrder">): VenueOutcome =>
    call("placeOrder", {
      symbol: "BTC-USDC-PERP",
      side: "BUY",
      price: null,
      qty: "0.1",
      tif: "GTC",
      reduceOnly: false,
      trigger: null,
      group: null,
      ...parts
    })
  const request = (parts: Parts<"requestQuotes">): VenueOutcome =>
    call("requestQuotes", {
      symbol: "BTC-USDC-KO",
      side: "BUY",
      qty: "0.1",
      barrier: "59000",
      takeProfit: null,
      expiryAt: venue.now + 86_400_000,
      strict: false,
      premiumBps: 9_500,
      windowEndsAt: venue.now + 60_000,
      ...parts
    })
  /** Sends a quote. Returns its id; 0 if it was refused. */
  const quote = (rfqRef: string, price: string, dealer = "alpha", validUntil = venue.now + 15_000): number =>
    venue.apply({ type: "quote", rfqRef, dealer, price, qty: "0.1", validUntil }).id ?? 0
  /** Opens a contract at 60,000. Returns the ref of its accept. */
  const deal = ({ dealer = "alpha", ref = "R-0", ...parts }: Parts<"requestQuotes"> & { dealer?: string }): string => {
    request({ ref, ...parts })
    const accept = `A-${ref}`
    call("acceptQuote", { ref: accept, target: ref, quoteId: quote(ref, "60000", dealer) })
    return accept
  }
  /** The events of a client since the venue opened. */
  const news = (account = "CL-1") => (venue.accountEvents(account, 0) ?? []).map(({ at, fact }) => ({ at, ...fact }))
  const balance = (account: string, asset: string): string | undefined =>
    venue
      .ledger()
      .find((one) => one.account === account)
      ?.balances.find((one) => one.asset === asset)?.amount
  for (const account of ["CL-1", "CL-2", "CL-4"]) call("openAccount", { account })
  command({ type: "price", symbol: "BTC-USDC-PERP", price: "60000", only: null })
  return {
    venue,
    events,
    messages,
    published,
    start,
    call,
    command,
    refusal,
    tick,
    place,
    request,
    quote,
    deal,
    news,
    balance
  }
}
