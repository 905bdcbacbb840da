/** Compares the venue's report of a request for quotes with the sent request. */
import { requestRef, type RfqContext } from "../rfq/Rfq.ts"
import type { VenueRfq } from "../venue/venueObjects.ts"
import { type Checks, differs, exactly, misfitBy, sameFigure } from "./check.ts"

export const requestChecks: Checks<VenueRfq, RfqContext> = {
  id: ({ id }, { venueRfqId }) =>
    venueRfqId === null || venueRfqId === 0 || venueRfqId === id ? null : differs("venue id", id, venueRfqId),
  ref: exactly("ref", "ref", ({ rfqId }) => requestRef(rfqId)),
  account: exactly("account", "account", ({ account }) => account),
  symbol: exactly("market", "symbol", ({ symbol }) => symbol),
  side: exactly("side", "side", ({ side }) => side),
  qty: sameFigure("quantity", "qty", ({ qty }) => qty),
  barrier: sameFigure("barrier", "barrier", ({ barrierLevel }) => barrierLevel),
  takeProfit: sameFigure("take profit", "takeProfit", ({ takeProfit }) => takeProfit),
  expiryAt: exactly("expiry", "expiryAt", ({ expiryTs }) => expiryTs),
  strict: exactly("strict flag", "strict", ({ strict }) => strict),
  windowEndsAt: { because: "The window ends by a timer of the service." },
  closes: ({ closes: there }, { closes }) => {
    const here = closes?.venueContractId ?? null
    return there === here || here === 0 ? null : differs("contract to close", there, here)
  },
  state: { because: "It is open or ended; a contract arrives in a message of its own, which is checked." },
  reason: { because: "Text for readers: no decision depends on it." },
  quotes: {
    because: "Offers: each is checked when it is accepted (quoteAcceptance.ts), and so is its execution."
  }
}

/** The reason that a report does not fit the sent request, or null. */
export const requestMisfit = misfitBy(requestChecks)
