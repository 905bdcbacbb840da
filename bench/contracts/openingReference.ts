/**
 * The reference of openings: the handlers that most teams would write first, with Fastify over TLS and a pg pool, at
 * the same venue over HTTP. Each step that must survive a crash has a transaction: the request before the venue call,
 * the venue's answer with the stored response, the accept before its venue call, and then contract, commission, item,
 * event, notification and response. These are the rows that the service stores for the same steps. A read of the
 * request queries the venue for quotes.
 *
 * The reference does less work than the service: ids come from memory, event numbers may have gaps, there are no seals,
 * stored answers are not encrypted, only the gates of cash, counts and the quote are checked, and a call without an
 * answer of the venue is not resolved.
 */
import { createHash, randomUUID } from "node:crypto"
import type { FastifyRequest } from "fastify"
import { type ClientBase, Pool } from "pg"
import type { VenueOutcome } from "../../src/machines/venue/venueCalls.ts"
import { answerParent } from "../child.ts"
import { listen, type PartnerRequest, partnerServer } from "../reference/partnerServer.ts"
import { loadReferenceIds } from "../reference/ReferenceIds.ts"
import { transact } from "../reference/transact.ts"
import { VenueSide } from "../reference/VenueSide.ts"
import type { OpeningServerQuestion } from "./openingProtocol.ts"

const premiumBps = 9_500n
const commissionBps = 2n
const windowMillis = 60_000

interface RfqBody {
  readonly symbol: string
  readonly side: "BUY" | "SELL"
  readonly qty: string
  readonly barrier: { readonly level: string }
}

interface Params {
  readonly id: string
  readonly rfqId: string
}

/** Price x quantity in micro-USDC; prices have one place, quantities two. */
const micro = (price: string, qty: string): bigint =>
  BigInt(price.replace(".", "")) * BigInt(qty.replace(".", "")) * 1_000n
const ceil = (value: bigint, of: bigint): bigint => (value + of - 1n) / of

interface StoredRfq {
  readonly rfqId: number
  readonly clientId: number
  readonly account: string
  readonly symbol: string
  readonly side: "BUY" | "SELL"
  readonly qty: string
  readonly barrierLevel: string
  readonly expiryTs: number
  readonly windowEndsAt: number
  readonly venueRfqId: number | null
  readonly createdAt: number
}

const serve = async (question: OpeningServerQuestion): Promise<{ readonly port: number }> => {
  const pool = new Pool({ connectionString: question.databaseUrl, max: 10, idleTimeoutMillis: 0 })
  pool.on("error", (error) => console.error("reference pool:", error.message))
  const venue = new VenueSide(question)
  const ids = await loadReferenceIds(pool)
  let lastRfq = 0
  let lastContract = 0
  const app = await partnerServer(pool, question)

  const store = (sql: ClientBase, request: FastifyRequest, body: object): Promise<unknown> => {
    const { partnerId, text } = request as PartnerRequest
    const fingerprint = createHash("sha256").update(`${request.url}\n${text}`).digest("hex")
    return sql.query(
      `INSERT INTO answers (principal, key, fingerprint, status, body, answered_at)
       VALUES ('partner:' || $1::text, $2, $3, 200, $4, $5)`,
      [partnerId, request.headers["idempotency-key"], fingerprint, Buffer.from(JSON.stringify(body)), Date.now()]
    )
  }
  const audit = (sql: ClientBase, partnerId: number, clientId: number, object: string, action: string) =>
    sql.query(
      `INSERT INTO audit (id, ts, role, key_label, request_id, partner_id, client_id, object, action)
       VALUES ($1, $2, 'PARTNER', 'bench', $3, $4, $5, $6, $7)`,
      [ids.next("audit"), Date.now(), randomUUID(), partnerId, clientId, object, action]
    )
  const stored = async (request: FastifyRequest) => {
    const { partnerId } = request as PartnerRequest
    const { rows: found } = await pool.query<{ readonly status: string }>(
      "SELECT status FROM answers WHERE principal = 'partner:' || $1::text AND key = $2",
      [partnerId, request.headers["idempotency-key"]]
    )
    if (found.length > 0) throw new Error("the key was used before")
  }
  const client = async (sql: ClientBase, clientId: number, partnerId: number) => {
    const { rows: found } = await sql.query<{
      readonly uid: string
      readonly cash: string
      readonly tied: string
      readonly n: string
    }>(
      `SELECT c.uid, b.cash,
              (SELECT coalesce(sum(amount), 0) FROM barrier_contracts WHERE client_id = c.id AND state = 'OPEN') AS tied,
              (SELECT count(*) FROM rfqs WHERE client_id = c.id AND state = 'OPEN') AS n
         FROM clients c JOIN balances b ON b.client_id = c.id AND b.currency = 'USDC'
        WHERE c.id = $1 AND c.partner_id = $2 FOR UPDATE`,
      [clientId, partnerId]
    )
    const [row] = found
    if (row === undefined) throw new Error("no such client")
    return row
  }
  const shown = (rfq: StoredRfq, state: string, quotes: ReadonlyArray<object>, contractId: number | null = null) => ({
    code: 0,
    data: {
      ...rfq,
      clientUid: rfq.account,
      clOrdId: `X-${rfq.rfqId}`,
      direction: "LONG",
      state,
      expiresAt: rfq.windowEndsAt,
      expiresInMs: rfq.windowEndsAt - Date.now(),
      contractId,
      quotes,
      currency: "USDC"
    }
  })

  app.post<{ Params: Params; Body: RfqBody }>("/partner/v1/clients/:id/rfq", async (request, reply) => {
    const { partnerId } = request as unknown as PartnerRequest
    const { body } = request
    const clientId = Number(request.params.id)
    await stored(request)
    const rfqId = ++lastRfq
    const now = Date.now()
    const premium = ceil(micro("2000.0", body.qty) * premiumBps, 10_000n)
    const rfq = await transact(pool, async (sql): Promise<StoredRfq> => {
      const { uid, cash, tied, n } = await client(sql, clientId, partnerId)
      if (BigInt(cash) - BigInt(tied) < premium || Number(n) >= 50) throw new Error("refused")
      const { symbol, side, qty, barrier } = body
      const times = { expiryTs: now + 31_536_000_000, windowEndsAt: now + windowMillis, createdAt: now }
      const made = { rfqId, clientId, account: uid, symbol, side, qty, barrierLevel: barrier.level, venueRfqId: null }
      const context = { ...made, ...times }
      await sql.query(
        `INSERT INTO rfqs (id, partner_id, client_id, state, version, context, symbol, currency, amount, created_at, close_contract_id, venue_open)
         VALUES ($1, $2, $3, 'CREATING', '1', $4, $5, 'USDC', $6, $7, NULL, true)`,
        [rfqId, partnerId, clientId, JSON.stringify(context), symbol, premium, now]
      )
      await audit(sql, partnerId, clientId, `rfq:${rfqId}`, "rfq.create")
      return context
    })
    const { symbol, side, qty, barrierLevel: barrier, expiryTs: expiryAt, windowEndsAt } = rfq
    const asked = {
      symbol,
      side,
      qty,
      barrier,
      takeProfit: null,
      expiryAt,
      strict: false,
      premiumBps: 9_500,
      windowEndsAt
    }
    const outcome = await venue.write("/rfqs", `ref-${rfq.account}`, { ref: `X-${rfqId}`, ...asked })
    if (outcome.rfq === null) throw new Error(`the venue refuses: ${outcome.reason}`)
    const open = { ...rfq, venueRfqId: outcome.rfq.id }
    const answer = shown(open, "OPEN", outcome.rfq.quotes.map(quoteOf))
    await transact(pool, async (sql) => {
      await sql.query("UPDATE rfqs SET state = 'OPEN', context = $2 WHERE id = $1", [rfqId, JSON.stringify(open)])
      await store(sql, request, answer)
    })
    return reply.header("x-request-id", randomUUID()).send(answer)
  })

  const read = async (rfqId: number, clientId: number): Promise<StoredRfq> => {
    const { rows: found } = await pool.query<{ readonly context: StoredRfq }>(
      "SELECT context FROM rfqs WHERE id = $1 AND client_id = $2",
      [rfqId, clientId]
    )
    const [row] = found
    if (row === undefined) throw new Error("no such request")
    return row.context
  }
  const lookup = async (ref: string): Promise<VenueOutcome> => {
    const { outcomes } = await venue.post<{ readonly outcomes: ReadonlyArray<VenueOutcome> }>("/lookups", {
      refs: [ref]
    })
    return outcomes[0] as VenueOutcome
  }

  app.get<{ Params: Params }>("/partner/v1/clients/:id/rfq/:rfqId", async (request, reply) => {
    const rfq = await read(Number(request.params.rfqId), Number(request.params.id))
    const { rfq: there } = await lookup(`X-${rfq.rfqId}`)
    return reply.header("x-request-id", randomUUID()).send(shown(rfq, "OPEN", (there?.quotes ?? []).map(quoteOf)))
  })

  app.post<{ Params: Params; Body: { readonly quoteId: number } }>(
    "/partner/v1/clients/:id/rfq/:rfqId/accept",
    async (request, reply) => {
      const { partnerId } = request as unknown as PartnerRequest
      const clientId = Number(request.params.id)
      const { quoteId } = request.body
      await stored(request)
      const rfq = await read(Number(request.params.rfqId), clientId)
      const { rfq: there } = await lookup(`X-${rfq.rfqId}`)
      const quote = there?.quotes.find(({ id }) => id === quoteId)
      if (quote === undefined || quote.state !== "LIVE" || quote.validUntil <= Date.now()) throw new Error("not live")
      const distance = micro((Number(quote.price) - Number(rfq.barrierLevel)).toFixed(1), rfq.qty)
      const premium = ceil(distance * premiumBps, 10_000n)
      const commission = ceil(micro(quote.price, rfq.qty) * commissionBps, 10_000n)
      await transact(pool, async (sql) => {
        const { cash, tied } = await client(sql, clientId, partnerId)
        if (BigInt(cash) - BigInt(tied) < premium + commission) throw new Error("refused")
        const context = { ...rfq, accepting: { quoteId, price: quote.price } }
        await sql.query("UPDATE rfqs SET context = $2 WHERE id = $1", [rfq.rfqId, JSON.stringify(context)])
        await audit(sql, partnerId, clientId, `rfq:${rfq.rfqId}`, "rfq.accept")
      })
      const call = { ref: `X-${rfq.rfqId}-${quoteId}`, target: `X-${rfq.rfqId}`, quoteId }
      const outcome = await venue.write("/accepts", `ref-${rfq.account}`, call)
      if (outcome.contract === null) throw new Error(`the venue refuses: ${outcome.reason}`)
      const { contract } = outcome
      const contractId = ++lastContract
      const answer = { code: 0, data: { ...shown(rfq, "ACCEPTED", [], contractId).data, tradeId: contract.tradeId } }
      await transact(pool, async (sql) => {
        const now = Date.now()
        const txId = ids.next("transaction")
        const refs = JSON.stringify({ contractId, symbol: rfq.symbol })
        await sql.query(
          `INSERT INTO barrier_contracts (id, partner_id, client_id, state, version, context, rfq_id, symbol, currency, amount, commission, opened_at)
           VALUES ($1, $2, $3, 'OPEN', '1', $4, $5, $6, 'USDC', $7, $8, $9)`,
          [contractId, partnerId, clientId, JSON.stringify(contract), rfq.rfqId, rfq.symbol, premium, commission, now]
        )
        await sql.query("UPDATE rfqs SET state = 'ACCEPTED', venue_open = false, context = $2 WHERE id = $1", [
          rfq.rfqId,
          JSON.stringify({ ...rfq, contractId, acceptedQuoteId: quoteId })
        ])
        await sql.query(
          `INSERT INTO ledger_transactions (tx_id, key, type, actor, reason, client_id, partner_id, refs, ts)
           VALUES ($1, $2, 'COMMISSION', 'partner:BENCH', NULL, $3, $4, $5, $6)`,
          [txId, `commission:contract:${contractId}`, clientId, partnerId, refs, now]
        )
        const posting = `INSERT INTO postings (posting_id, tx_id, account, client_id, partner_id, currency, kind, amount)
                         VALUES ($1, $2, $3, $4, $5, 'USDC', 'cash', $6)`
        await sql.query(posting, [ids.next("posting"), txId, `client:${clientId}`, clientId, partnerId, -commission])
        await sql.query(posting, [ids.next("posting"), txId, "commission", null, partnerId, commission])
        await sql.query("UPDATE balances SET cash = cash - $2 WHERE client_id = $1 AND currency = 'USDC'", [
          clientId,
          commission
        ])
        const item = JSON.stringify({ itemId: txId, clientId, type: "COMMISSION", amount: String(commission), refs })
        await sql.query(
          `INSERT INTO settlement_items (id, partner_id, client_id, shard, state, version, context, type, currency, amount, tx_id, occurred_at)
           VALUES ($1, $2, $3, $4, 'PENDING', '1', $5, 'COMMISSION', 'USDC', $6, $7, $8)`,
          [txId, partnerId, clientId, clientId % 1_024, item, -commission, txId, now]
        )
        await sql.query(
          "INSERT INTO events (partner_id, seq, name, client_id, data, ts) VALUES ($1, $2, 'settlement.item_created', $3, $4, $5)",
          [partnerId, ids.next("event"), clientId, item, now]
        )
        await sql.query(
          `INSERT INTO notifications (id, partner_id, client_id, kind, ref, ts, written_at)
           VALUES ($1, $2, $3, 'BARRIER_OPENED', $4, $5, $5)`,
          [contractId, partnerId, clientId, String(contractId), now]
        )
        await sql.query("UPDATE house_balances SET amount = amount + $1 WHERE account = 'commission'", [commission])
        await audit(sql, partnerId, clientId, `barrierContract:${contractId}`, "contract.open")
        await store(sql, request, answer)
      })
      return reply.header("x-request-id", randomUUID()).send(answer)
    }
  )
  app.setErrorHandler((error, _request, reply) => reply.code(500).send({ code: 5000, msg: String(error) }))
  return listen(app)
}

const quoteOf = ({ id: quoteId, ...quote }: { readonly id: number; readonly validUntil: number }) => ({
  quoteId,
  ...quote,
  validForMs: quote.validUntil - Date.now(),
  acceptable: true,
  notAcceptableReason: null
})

answerParent(serve)
