/** The target of a call for faults: its route and its market. */
import type { NounCallName } from "../../../src/machines/venue/venueNouns.ts"
import type { Venue } from "../core/Venue.ts"
import type { VenueCall } from "../core/VenueInput.ts"
import type { Target } from "./Faults.ts"

/** The calls of nouns have the route `take`. */
const routes: Readonly<Record<Exclude<VenueCall["name"], NounCallName>, Target["route"]>> = {
  openAccount: null,
  placeOrder: "order",
  amendOrder: "order",
  cancelOrder: "cancel",
  requestQuotes: "rfq",
  requestClose: "rfq",
  cancelRequest: "rfq",
  acceptQuote: "accept",
  tearUp: "accept"
}

export const targetOf = (venue: Pick<Venue, "lookup" | "account" | "offers">, call: VenueCall): Target => ({
  route: Object.hasOwn(routes, call.name) ? routes[call.name as keyof typeof routes] : "take",
  symbol: symbolOf(venue, call)
})

const symbolOf = (venue: Pick<Venue, "lookup" | "account" | "offers">, call: VenueCall): string | null => {
  switch (call.name) {
    case "openAccount":
      return null
    case "placeOrder":
    case "requestQuotes":
      return call.request.symbol
    case "cancelOrder":
    case "amendOrder":
    case "cancelRequest":
    case "acceptQuote": {
      const [known] = venue.lookup([call.request.target])
      return known?.order?.symbol ?? known?.rfq?.symbol ?? null
    }
    case "requestClose":
    case "tearUp": {
      const { account, contractId } = call.request
      return venue.account(account)?.contracts.find(({ id }) => id === contractId)?.symbol ?? null
    }
    case "takeOffer": {
      const { offerId } = call.request
      return venue.offers().find(({ id }) => id === offerId)?.symbol ?? null
    }
    default:
      return null
  }
}
