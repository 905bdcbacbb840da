/**
 * What previews and margin reads are held to: Fastify over TLS and a pg pool, one prepared statement for all of a client's rows,
 * and the service's own formulas over them, on marks held in memory that never grow old. Spared are all gates, the recorded risk
 * state, contracts and requests.
 */
import { randomUUID } from "node:crypto"
import { Pool } from "pg"
import { accountRisk, leverageInForce } from "../../src/machines/margin/accountRisk.ts"
import { marginPictureOf } from "../../src/machines/margin/marginPicture.ts"
import type { PerpHolding } from "../../src/machines/margin/perpRisk.ts"
import { type Facts, type Instrument, noFacts, noRecentMarket } from "../../src/machines/market/Facts.ts"
import { gridOf } from "../../src/machines/market/Grid.ts"
import { defaultMarketTerms } from "../../src/machines/market/marketTerms.ts"
import { preTrade } from "../../src/machines/order/preTrade.ts"
import { MoneyDecimal } from "../../src/machines/shared/Money.ts"
import { previewFigures } from "../../src/runtime/services/trading/order/orderFacts.ts"
import { answerParent } from "../child.ts"
import { listen, type PartnerRequest, partnerServer } from "../reference/partnerServer.ts"
import { poolSizes } from "../reference/protocol.ts"
import { limitSchema } from "./orderRow.ts"
import type { AskedLimit, FigureServerQuestion, HeldMark } from "./protocol.ts"
import type { Context } from "./writeOrder.ts"

const accountQuery = {
  name: "account",
  text: `SELECT c.categorization, b.cash, b.reserved,
           (SELECT json_agg(p) FROM (SELECT symbol, net_qty, avg_entry, net_cost, realized_pnl::text
                                       FROM positions WHERE client_id = c.id AND state = 'OPEN') p) AS positions,
           (SELECT json_agg(o.context) FROM orders o WHERE o.client_id = c.id AND o.works) AS orders
           FROM clients c JOIN balances b ON b.client_id = c.id AND b.currency = 'USDC' WHERE c.id = $1 AND c.partner_id = $2`
}

interface AccountRecord {
  readonly categorization: "RETAIL" | "PROFESSIONAL"
  readonly cash: string
  readonly reserved: string
  readonly positions: ReadonlyArray<Readonly<Record<string, string>>> | null
  readonly orders: ReadonlyArray<Context> | null
}

const terms = defaultMarketTerms

/** The market as it is held. */
const factsOf = (marks: ReadonlyArray<HeldMark>): Facts => ({
  takenAt: 0,
  marks: new Map(
    marks.map(({ symbol, price, priceDecimals }) => [
      symbol,
      { price: new MoneyDecimal(price), places: priceDecimals, at: 0, current: true }
    ])
  ),
  instruments: new Map(marks.map((mark) => [mark.symbol, instrumentOf(mark)])),
  terms,
  venueTime: noFacts.venueTime,
  recent: noRecentMarket
})

const instrumentOf = ({ symbol, priceTick, priceDecimals, qtyDecimals }: HeldMark): Instrument => ({
  symbol,
  family: "PERP",
  assetClass: "crypto",
  priceDecimals,
  qtyDecimals,
  priceTick: tickOf(priceTick),
  bandBps: 1_000
})

const tickOf = (text: string) => {
  const grid = gridOf(text)
  if (grid === null) throw new Error(`${text} is no price tick`)
  return grid
}

const holdingsOf = ({ positions, orders, categorization }: AccountRecord): ReadonlyArray<PerpHolding> => {
  const held = new Map((positions ?? []).map((row) => [row["symbol"] ?? "", row]))
  const working = Map.groupBy(orders ?? [], ({ symbol }) => symbol)
  const leverage = leverageInForce({ categorization, assetClass: "crypto", terms, chosen: null })
  return [...new Set([...held.keys(), ...working.keys()])].map((symbol) => {
    const row = held.get(symbol)
    return {
      symbol,
      position:
        row === undefined
          ? null
          : {
              symbol,
              netQty: row["net_qty"] ?? "0",
              avgEntry: row["avg_entry"] ?? "0",
              netCost: row["net_cost"] ?? "0",
              realizedPnl: BigInt(row["realized_pnl"] ?? 0)
            },
      orders: (working.get(symbol) ?? []).map(({ side, qty, filledQty, price, reduceOnly }) => ({
        symbol,
        side,
        left: new MoneyDecimal(qty).minus(filledQty).toFixed(),
        price,
        boundBps: null,
        reduceOnly
      })),
      terms: {
        leverage,
        tiers: terms.riskTiers,
        slippageBps: terms.slippageBps,
        cap: leverage,
        commissionBps: terms.commissionBps.PERP
      }
    }
  })
}

const serve = async (question: FigureServerQuestion): Promise<{ readonly port: number }> => {
  const pool = new Pool({ connectionString: question.databaseUrl, max: poolSizes.tuned, idleTimeoutMillis: 0 })
  pool.on("error", (error) => console.error("reference pool:", error.message))
  const app = await partnerServer(pool, question)
  const facts = factsOf(question.marks)
  const read = async (clientId: number, partnerId: number) => {
    const { rows } = await pool.query<AccountRecord>({ ...accountQuery, values: [clientId, partnerId] })
    const [row] = rows
    if (row === undefined) throw new Error("no such client")
    const cash = BigInt(row.cash)
    const perpetuals = holdingsOf(row)
    const cashOf = (currency: string): bigint => (currency === "USDC" ? cash : 0n)
    return { row, cash, state: { cashOf, contracts: [], accepts: [], perpetuals } }
  }

  app.get<{ Params: { readonly id: string } }>("/partner/v1/clients/:id/margin", async (request, reply) => {
    const clientId = Number(request.params.id)
    const { row, cash, state } = await read(clientId, (request as unknown as PartnerRequest).partnerId)
    const picture = marginPictureOf({
      clientId,
      categorization: row.categorization,
      cash,
      reserved: BigInt(row.reserved),
      barriers: 0,
      openOrders: row.orders?.length ?? 0,
      instruments: facts.instruments,
      risk: accountRisk(state, facts)
    })
    return reply.header("x-request-id", randomUUID()).send(picture)
  })

  app.post<{ Params: { readonly id: string }; Body: AskedLimit }>(
    "/partner/v1/clients/:id/margin/preview",
    { schema: { body: limitSchema } },
    async (request, reply) => {
      const { symbol, side, qty, price } = request.body
      const { state } = await read(Number(request.params.id), (request as unknown as PartnerRequest).partnerId)
      const holding = state.perpetuals.find((each) => each.symbol === symbol)
      const instrument = facts.instruments.get(symbol)
      if (holding === undefined || instrument === undefined) throw new Error(`${symbol} is not held`)
      const figures = preTrade({
        order: { symbol, side, qty, price, trigger: null, reduceOnly: false },
        risk: accountRisk(state, facts),
        holding,
        facts,
        bestOpposite: null,
        reducingBps: 494,
        bandBps: instrument.bandBps,
        commissionBps: terms.commissionBps.PERP,
        tick: instrument.priceTick
      })
      const { sentence } = figures
      return reply
        .header("x-request-id", randomUUID())
        .send({ accepted: sentence === null, reason: sentence, ...previewFigures(figures) })
    }
  )
  app.setErrorHandler((error, _request, reply) => reply.code(500).send({ code: 5000, msg: String(error) }))
  return listen(app)
}

answerParent(serve)
