/**
 * The steps of `brokerage tour` as one table, from which come the command's text, `docs/tour.md` and the tour's test. A value in
 * braces stands for a fact of the demo ({client}) or a value that an earlier answer of the step gave ({contract}).
 */
import type { TourStepName } from "./stepNames.ts"

interface Shown {
  /** One sentence that describes the action. */
  readonly purpose: string
  /** Paths of the answer's members that the screen shows; all other members are left out. */
  readonly shows?: ReadonlyArray<string>
  /** Path of a list in the answer: `shows` is then relative to its rows, and the screen shows the first of them. */
  readonly rows?: string
  /** Members that the answer must have, by path. A read is repeated until they match, and any other request fails. */
  readonly expects?: Readonly<Record<string, string>>
  /** Values that later actions of the step need: the placeholder's name and the path of the answer's member. */
  readonly keeps?: Readonly<Record<string, string>>
  /** Webhooks that the action causes; the tour waits for them. */
  readonly events?: ReadonlyArray<string>
}

/** A request of the partner; the path is relative to /partner/v1. Requests with a body are POST, all others GET. */
export interface TourRequest extends Shown {
  readonly path: string
  /** JSON text, or the name of a file in the tour's folder that holds it. */
  readonly body?: string | { readonly file: string }
  /** The name under which the tour's folder keeps the answer, which is no JSON. */
  readonly saves?: string
}

/** A command line of the operator, without `brokerage`. */
export interface TourCommand extends Shown {
  readonly command: string
}

export type TourAction = TourRequest | TourCommand

/** The state of the demo client's account in which a step begins. The tour prepares the account. */
export interface TourNeeds {
  /** The symbol and the price at which the venue holds it. */
  readonly price?: readonly [symbol: string, price: string]
  /** The market that the step trades: it may have been halted until just now. */
  readonly market?: string
  /** The least cash in whole USDC. */
  readonly cash?: number
  /** True: cash above `cash` is withdrawn. */
  readonly exact?: true
  /** Whether the account must have neither open orders nor positions. */
  readonly flat?: true
}

export interface TourStep {
  /** One sentence on the whole step. */
  readonly sentence: string
  readonly needs?: TourNeeds
  readonly actions: ReadonlyArray<TourAction>
}

const client = "/clients/{client}"
const perpetual = "BTC-USDC-PERP"

const onMarket = (purpose: string, price: string, more: Partial<Shown> = {}): TourCommand => ({
  purpose,
  command: `sim venue price ${perpetual} ${price}`,
  ...more
})

export const tourSteps: Readonly<Record<TourStepName, TourStep>> = {
  money: {
    sentence: "The partner onboards a client, reports collateral of the demo client, and reads its ledger.",
    actions: [
      {
        purpose: "Onboard a client with a complete file; an accepted client is ACTIVE at once.",
        path: "/clients",
        body: { file: "client.json" },
        shows: ["data.clientId", "data.clientUid", "data.lifecycleState", "data.verificationLevel"],
        events: ["client.onboarded"]
      },
      {
        purpose: "Report that 250 USDC of collateral arrived; partnerRef makes a repeated report harmless.",
        path: `${client}/collateral`,
        body: '{"partnerRef":"{ref}","direction":"DEPOSIT","amount":"250.00"}',
        shows: ["data.reportId", "data.status", "data.balances.cash"],
        expects: { "data.status": "BOOKED" },
        events: ["collateral.booked"]
      },
      {
        purpose: "Read the ledger of the client, newest posting first.",
        path: `${client}/ledger?limit=3`,
        rows: "data.postings",
        shows: ["postingId", "type", "amount", "currency"]
      }
    ]
  },
  market: {
    sentence: "The simulated venue moves a price, and the partner reads the market before and after it.",
    actions: [
      {
        purpose: "Read the prices of a market.",
        path: `/ticker?symbol=${perpetual}`,
        shows: ["data.symbol", "data.markPrice", "data.bestBid", "data.bestAsk"]
      },
      onMarket("Move index, mark and last price of the market, and hold them there.", "60000"),
      {
        purpose: "Read the prices again: the mark is at the held price.",
        path: `/ticker?symbol=${perpetual}`,
        shows: ["data.symbol", "data.markPrice", "data.bestBid", "data.bestAsk"],
        expects: { "data.markPrice": "60000.0" }
      }
    ]
  },
  orders: {
    sentence: "The client buys a perpetual at the market, offers it above, and sells when the price rises.",
    needs: { price: [perpetual, "60000"], market: perpetual, cash: 500, flat: true },
    actions: [
      {
        purpose: "Buy at the market; the order fills at once, and its commission is owed between the firms.",
        path: `${client}/orders`,
        body: `{"symbol":"${perpetual}","side":"BUY","type":"MARKET","qty":"0.001"}`,
        shows: ["orderId", "state"],
        expects: { state: "FILLED" },
        events: ["settlement.item_created"]
      },
      {
        purpose: "Offer the same quantity above the market; the order rests in the book.",
        path: `${client}/orders`,
        body: `{"symbol":"${perpetual}","side":"SELL","type":"LIMIT","qty":"0.001","price":"60500"}`,
        shows: ["orderId", "state"],
        expects: { state: "ACKED" },
        keeps: { order: "orderId" }
      },
      {
        purpose: "Read the position.",
        path: `${client}/positions`,
        rows: "positions",
        shows: ["symbol", "netQty", "avgEntryPrice"],
        expects: { "positions.0.netQty": "0.0010" }
      },
      {
        purpose: "Read the margin of the account.",
        path: `${client}/margin`,
        shows: ["equity", "initialMargin", "freeMargin", "riskState"],
        expects: { openOrders: "1" }
      },
      onMarket("Let the price rise above the offer: it fills.", "60600", { events: ["settlement.item_created"] }),
      {
        purpose: "Read the two trades, newest first.",
        path: `${client}/trades?limit=2`,
        rows: "trades",
        shows: ["side", "price", "qty", "commission", "realizedPnl"],
        expects: { "trades.0.orderId": "{order}", "trades.0.side": "SELL", "trades.1.side": "BUY" }
      }
    ]
  },
  contract: {
    sentence: "The client opens a knock-out contract at a dealer's quote, and the price passes its barrier.",
    needs: { price: [perpetual, "60000"], market: "BTC-USDC-KO", cash: 100 },
    actions: [
      {
        purpose: "Request a contract; the first quote of a dealer is accepted by itself.",
        path: `${client}/rfq`,
        body: '{"symbol":"BTC-USDC-KO","side":"BUY","qty":"0.01","barrier":{"level":"59000"}}',
        shows: ["data.rfqId", "data.state", "data.barrierLevel", "data.maxLossAtRequest"],
        keeps: { rfq: "data.rfqId" },
        events: ["settlement.item_created"]
      },
      {
        purpose: "Read the open contract.",
        path: `${client}/barriers`,
        rows: "data.barriers",
        shows: ["contractId", "state", "entry", "maxLoss"],
        expects: { "data.barriers.0.rfqId": "{rfq}", "data.barriers.0.state": "OPEN" }
      },
      onMarket("Let the price fall below the barrier: the contract is knocked out.", "58900", {
        events: ["settlement.item_created"]
      }),
      {
        purpose: "Read the ended contract.",
        path: `${client}/barriers?state=history&limit=1`,
        rows: "data.barriers",
        shows: ["contractId", "state", "settlePrice", "pnl", "commission"],
        expects: { "data.barriers.0.rfqId": "{rfq}", "data.barriers.0.state": "KNOCKED_OUT" }
      }
    ]
  },
  staking: {
    sentence: "The client lends 100 USDC to a writer of the staking board for a day, and receives it with a reward.",
    needs: { market: "USDC-SWAP", cash: 200 },
    actions: [
      {
        purpose: "Let a writer of the simulated venue offer 4 % for one day.",
        command: "sim venue offer USDC-SWAP --rate-bps 400 --tenor-days 1 --qty 100",
        shows: ["id"],
        keeps: { offer: "id" }
      },
      {
        purpose: "Read the staking board, shortest time first.",
        path: "/staking/offers?symbol=USDC-SWAP",
        rows: "data.offers",
        shows: ["offerId", "ratePct", "tenorDays", "remainingQty"],
        expects: { "data.offers.*.offerId": "{offer}" }
      },
      {
        purpose: "Take the offer: the money leaves the cash until maturity.",
        path: `${client}/staking/{offer}/accept`,
        body: '{"qty":"100"}',
        shows: ["data.contractId", "data.state", "data.notional", "data.reward", "data.expectedPayout"],
        expects: { "data.state": "OPEN" },
        keeps: { contract: "data.contractId" }
      },
      {
        purpose: "Let a day pass.",
        command: "sim clock advance 1d",
        events: ["swap.settled"]
      },
      {
        purpose: "Read the swap: the writer paid notional and reward.",
        path: `${client}/staking/swaps/{contract}`,
        shows: ["data.contractId", "data.state", "data.paid", "data.commission"],
        expects: { "data.state": "MATURED" }
      },
      {
        purpose: "Read the balances: no money is staked any more.",
        path: `${client}/balances`,
        rows: "balances",
        shows: ["currency", "cash", "staked"]
      }
    ]
  },
  statement: {
    sentence: "The partner makes a statement of the last 30 days of the account, and saves it as PDF and CSV.",
    needs: { cash: 100 },
    actions: [
      {
        purpose: "Make the statement; an end in the future counts as the moment of the request.",
        path: `${client}/statements`,
        body: '{"kind":"ACCOUNT","from":{from},"to":{to}}',
        shows: ["statementId", "state", "rows", "sha256"],
        keeps: { statement: "statementId" },
        events: ["statement.ready"]
      },
      {
        purpose: "Save the statement as PDF.",
        path: `${client}/statements/{statement}/pdf`,
        saves: "statement.pdf"
      },
      {
        purpose: "Save the statement as CSV.",
        path: `${client}/statements/{statement}/csv`,
        saves: "statement.csv"
      }
    ]
  },
  closeout: {
    sentence: "The price falls under a position whose loss exceeds the money, and the service closes it out.",
    needs: { price: [perpetual, "60000"], market: perpetual, cash: 1000, exact: true, flat: true },
    actions: [
      {
        purpose: "Buy with nearly all of the margin: a price of 53,000 makes the loss exceed the cash.",
        path: `${client}/orders`,
        body: `{"symbol":"${perpetual}","side":"BUY","type":"MARKET","qty":"0.15"}`,
        shows: ["orderId", "state"],
        expects: { state: "FILLED" },
        events: ["settlement.item_created"]
      },
      onMarket("Let the price fall: the account is closed out, and the rest of the loss is written off.", "40000", {
        events: ["margin.restriction_set", "settlement.item_created", "margin.restriction_lifted"]
      }),
      {
        purpose: "List the close-out as an operator.",
        command: "closeout list --client {client} --limit 1",
        rows: "closeouts",
        shows: ["closeOutId", "state", "orders", "writtenOff"],
        expects: { "closeouts.0.state": "DONE" }
      },
      {
        purpose: "Read the postings: the loss, the commission, and the write-off that brings the cash back to zero.",
        path: `${client}/ledger?limit=3`,
        rows: "data.postings",
        shows: ["postingId", "type", "amount", "currency"]
      }
    ]
  },
  scenarios: {
    sentence: "Scenarios in YAML play whole stories on a temporary service and check every answer.",
    actions: [
      {
        purpose: "Play the scenarios of custody on a service of their own; this takes up to a minute.",
        command: "sim run custody --own",
        rows: "scenarios",
        shows: ["id", "ok", "millis"],
        expects: { ok: "true" }
      }
    ]
  }
}
