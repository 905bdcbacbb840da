/**
 * What account reads are held to: Fastify over TLS and a pg pool, one prepared statement for an account's rows, one that adds up what
 * is behind them, and the service's own formulas over both, on marks held in memory that never grow old. Spared are all gates,
 * positions, contracts and requests.
 */
import { randomUUID } from "node:crypto"
import { Pool } from "pg"
import { noTotals } from "../../src/machines/account/accountTotals.ts"
import { balancesWireOf } from "../../src/machines/account/balancesWire.ts"
import { overviewOf } from "../../src/machines/account/overview.ts"
import { type Held, portfolioOf } from "../../src/machines/account/portfolio.ts"
import { type LiveSwap, stakedByAsset } from "../../src/machines/account/stakedSwaps.ts"
import { accountRisk } from "../../src/machines/margin/accountRisk.ts"
import { type Facts, noFacts, noRecentMarket } from "../../src/machines/market/Facts.ts"
import { holdingMark } from "../../src/machines/market/holdingMark.ts"
import { defaultMarketTerms } from "../../src/machines/market/marketTerms.ts"
import type { Currency } from "../../src/machines/shared/Currency.ts"
import { MoneyDecimal } from "../../src/machines/shared/Money.ts"
import { answerParent } from "../child.ts"
import { listen, type PartnerRequest, partnerServer } from "../reference/partnerServer.ts"
import { poolSizes } from "../reference/protocol.ts"
import type { HeldMark, ReadServerQuestion } from "./protocol.ts"

interface BalanceRecord {
  readonly currency: Currency
  readonly cash: string
  readonly reserved: string
  readonly funding: string
}

interface SwapRecord {
  readonly currency: Currency
  readonly state: "OPEN" | "DEFAULTED"
  readonly amount: string
  readonly reward: string
  readonly paid: string
  readonly written_off: string
  readonly maturity_at: string
}

interface AccountRecord {
  readonly level: "NONE" | "MICA" | "MICA_MIFID"
  readonly balances: ReadonlyArray<BalanceRecord> | null
  readonly swaps: ReadonlyArray<SwapRecord> | null
  readonly lots: ReadonlyArray<Readonly<Record<"asset" | "qty" | "cost" | "commission", string>>> | null
}

const accountQuery = {
  name: "account",
  text: `SELECT c.level,
           (SELECT json_agg(b) FROM (SELECT currency, cash::text, reserved::text, funding::text FROM balances WHERE client_id = c.id) b) AS balances,
           (SELECT json_agg(l) FROM (SELECT asset, qty::text, cost::text, commission::text FROM spot_lots WHERE client_id = c.id AND qty > 0) l) AS lots,
           (SELECT json_agg(s) FROM (SELECT currency, state, amount::text, reward::text, paid::text, written_off::text, maturity_at::text
                                       FROM swaps WHERE client_id = c.id AND state IN ('OPEN', 'DEFAULTED')) s) AS swaps
           FROM clients c WHERE c.id = $1 AND c.partner_id = $2`
}

/** What a service that keeps no totals has to add up for every overview. */
const totalsQuery = {
  name: "totals",
  text: `SELECT count(*) AS fills, coalesce(sum(realized_pnl) FILTER (WHERE family = 'PERP'), 0) AS fills_pnl,
           coalesce(sum(realized_pnl) FILTER (WHERE family = 'SPOT'), 0) AS spot_pnl, coalesce(sum(commission), 0) AS commission,
           count(*) FILTER (WHERE realized_pnl > 0) AS wins, count(*) FILTER (WHERE realized_pnl < 0) AS losses,
           (SELECT count(*) FROM swaps WHERE client_id = $1 AND opened_at IS NOT NULL) AS takes
           FROM fills WHERE client_id = $1`
}

type TotalsRecord = Readonly<
  Record<"fills" | "fills_pnl" | "spot_pnl" | "commission" | "wins" | "losses" | "takes", string>
>

const liveOf = (swap: SwapRecord): LiveSwap => {
  const [notional, reward, paid] = [BigInt(swap.amount), BigInt(swap.reward), BigInt(swap.paid)]
  const left = notional + reward - paid - BigInt(swap.written_off)
  return {
    asset: swap.currency,
    state: swap.state,
    notional,
    reward,
    expectedPayout: notional + reward,
    paid,
    claim: swap.state === "DEFAULTED" && left > 0n ? left : 0n,
    maturityTs: Number(swap.maturity_at)
  }
}

/** The market as it is held. */
const factsOf = (marks: ReadonlyArray<HeldMark>): Facts => ({
  takenAt: 0,
  marks: new Map(
    marks.map(({ symbol, price, places }) => [symbol, { price: new MoneyDecimal(price), places, at: 0, current: true }])
  ),
  instruments: new Map(),
  terms: defaultMarketTerms,
  venueTime: noFacts.venueTime,
  recent: noRecentMarket
})

const serve = async (question: ReadServerQuestion): Promise<{ readonly port: number }> => {
  const pool = new Pool({ connectionString: question.databaseUrl, max: poolSizes.tuned, idleTimeoutMillis: 0 })
  pool.on("error", (error) => console.error("reference pool:", error.message))
  const app = await partnerServer(pool, question)
  const facts = factsOf(question.marks)
  const read = async (clientId: number, partnerId: number) => {
    const { rows } = await pool.query<AccountRecord>({ ...accountQuery, values: [clientId, partnerId] })
    const [row] = rows
    if (row === undefined) throw new Error("no such client")
    const held = new Map<Currency, Held>(
      (row.balances ?? []).map(({ currency, cash, reserved }) => [
        currency,
        { cash: BigInt(cash), reserved: BigInt(reserved) }
      ])
    )
    const cashOf = (currency: string): bigint => held.get(currency as Currency)?.cash ?? 0n
    const risk = accountRisk({ cashOf, contracts: [], accepts: [], perpetuals: [] }, facts)
    const staked = stakedByAsset((row.swaps ?? []).map(liveOf))
    const markOf = (currency: Currency) => holdingMark(currency, facts)
    return { row, risk, staked, portfolio: portfolioOf({ held, staked, risk, markOf }) }
  }
  const totalsOf = async (clientId: number) => {
    const { rows } = await pool.query<TotalsRecord>({ ...totalsQuery, values: [clientId] })
    const [sums] = rows
    if (sums === undefined) throw new Error("no totals")
    return {
      ...noTotals,
      fills: Number(sums.fills),
      fillsPnl: BigInt(sums.fills_pnl),
      spotPnl: BigInt(sums.spot_pnl),
      fillsCommission: BigInt(sums.commission),
      wins: Number(sums.wins),
      losses: Number(sums.losses),
      swapTakes: Number(sums.takes)
    }
  }

  app.get<{ Params: { readonly id: string } }>("/partner/v1/clients/:id/balances", async (request, reply) => {
    const { partnerId } = request as unknown as PartnerRequest
    const { portfolio, risk } = await read(Number(request.params.id), partnerId)
    return reply.header("x-request-id", randomUUID()).send(balancesWireOf(portfolio, risk))
  })
  app.get<{ Params: { readonly id: string } }>("/partner/v1/clients/:id/account/overview", async (request, reply) => {
    const { partnerId } = request as unknown as PartnerRequest
    const clientId = Number(request.params.id)
    const [account, totals] = await Promise.all([read(clientId, partnerId), totalsOf(clientId)])
    const { row, portfolio, risk, staked } = account
    const lots = (row.lots ?? []).map(({ asset, qty, cost, commission }) => ({
      asset,
      qty: BigInt(qty),
      cost: BigInt(cost),
      commission: BigInt(commission)
    }))
    const funding = BigInt(row.balances?.find(({ currency }) => currency === "USDC")?.funding ?? 0)
    const overview = overviewOf({ portfolio, staked, risk, totals, funding, lots, level: row.level })
    return reply.header("x-request-id", randomUUID()).send({ code: 0, data: { asOf: Date.now(), ...overview } })
  })
  app.setErrorHandler((error, _request, reply) => reply.code(500).send({ code: 5000, msg: String(error) }))
  return listen(app)
}

answerParent(serve)
