/**
 * Funding payments: every position of a perpetual pays or gets its interval's rate at the mark of the funding time. While the
 * tester's fault `unpriced-funding` is in force, mark and rate are unknown: a client's event is published without them, and
 * paid at its own mark and rate after the fault (F14).
 */
import { fundingIntervalMillis, paymentOf, type PositionStamp } from "./Funding.ts"
import { houseAccounts } from "./Makers.ts"
import { moneyDecimals, rateDecimals, textOf } from "./texts.ts"
import type { VenueParts } from "./VenueParts.ts"

/**
 * At a funding time, pays every perpetual position; while the fault `unpriced-funding` is in force, publishes its stamp
 * without a mark and pays later. Does nothing at any other time.
 */
export const stampFunding = (parts: VenueParts): void => {
  const { funding, exchange, clock, settings } = parts
  if (clock.now % fundingIntervalMillis !== 0) return
  const waiting: Array<PositionStamp> = []
  for (const [symbol, rates] of funding) {
    const { prices, delisted } = parts.listing(symbol)
    if (delisted || prices.MARK === null) continue
    const at = { symbol, settledAt: clock.now, mark: prices.MARK, rate: rates.stamp() }
    for (const account of exchange.accounts.values()) {
      const lots = account.lotsOf(symbol)
      if (lots === 0) continue
      if (account.id >= 0) parts.publishMark(symbol, prices.MARK)
      const stamp = { accountId: account.id, lots, ...at }
      // Positions of the house have no events to publish, so the fault does not delay their payment.
      if (settings.unpricedFunding === null || account.id < 0) pay(parts, stamp)
      else {
        publish(parts, stamp, null)
        waiting.push(stamp)
      }
    }
  }
  if (waiting.length > 0) settings.unpricedStamps = [...settings.unpricedStamps, ...waiting]
}

/**
 * Ends the fault once its time is over, and pays the events that were published without mark and rate. `now`: ends it at
 * once.
 */
export const priceStamps = (parts: VenueParts, now = false): void => {
  const { settings, clock } = parts
  const fault = settings.unpricedFunding
  if (fault === null || (!now && (fault.until === null || clock.now < fault.until))) return
  settings.unpricedFunding = null
  const stamps = settings.unpricedStamps
  settings.unpricedStamps = []
  for (const stamp of stamps) pay(parts, stamp)
}

const pay = (parts: VenueParts, stamp: PositionStamp): void => {
  const { accountId, symbol, lots, mark, rate } = stamp
  const amount = paymentOf(parts.listing(symbol).market, lots, mark, rate)
  parts.balances.move("funding", houseAccounts.venue, accountId, "USDC", amount)
  if (accountId >= 0) publish(parts, stamp, amount)
}

/**
 * Publishes a client's funding event. `amount` is the payment in micro-USDC; null publishes it without amount, mark and
 * rate.
 */
const publish = (parts: VenueParts, stamp: PositionStamp, amount: bigint | null): void => {
  const { accountId, symbol, settledAt, lots, mark, rate } = stamp
  const { market } = parts.listing(symbol)
  const priced = amount !== null
  parts.events.publish(parts.accountOf(accountId), parts.clock.now, {
    type: "funding",
    funding: {
      symbol,
      settledAt,
      mark: priced ? textOf(mark, market.tickDecimals) : null,
      rate: priced ? textOf(rate, rateDecimals) : null,
      netQty: textOf(lots, market.lotDecimals),
      amount: priced ? textOf(amount, moneyDecimals) : null
    }
  })
}
