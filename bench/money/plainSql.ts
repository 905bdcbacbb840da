/**
 * The same money writes by plain SQL without HTTP, on `concurrency` connections at full speed: prepared statements, one
 * transaction per step, and the same stored rows as by the service (claim, notice or request, ledger transaction, two
 * postings, balance, event, audit row, stored answer). A report of 500 items is four statements over whole sets.
 *
 * The reference does less work than the service: ids come from memory, event numbers may have gaps, audit rows are not
 * chained, destinations and answers are not encrypted, and only the gate of cash is checked.
 */
import { randomUUID } from "node:crypto"
import { type ClientBase, Pool } from "pg"
import { answerParent } from "../child.ts"
import { percentile } from "../load/protocol.ts"
import { loadReferenceIds, type ReferenceIds } from "../reference/ReferenceIds.ts"
import { bulkEntries, type PlainMoneyQuestion, type PlainMoneyResult } from "./protocol.ts"

const lock = `FROM clients c JOIN balances b ON b.client_id = c.id AND b.currency = 'USDC'
  JOIN subjects s ON s.subject = 'client:' || c.id WHERE c.id = $1`

const statements = {
  answer: "SELECT fingerprint, status, body FROM answers WHERE principal = 'partner:' || $1::text AND key = $2",
  client: `SELECT c.partner_id, c.state, b.cash ${lock} FOR UPDATE`,
  claim: "INSERT INTO claims (name, owner) VALUES ($1, $2)",
  notice: `INSERT INTO deposit_notices (id, partner_id, client_id, shard, state, version, context, currency, amount, created_at)
           VALUES ($1, $2, $3, 0, 'PENDING', '1', $4, 'USDC', $5, $6)`,
  confirm: `UPDATE deposit_notices SET state = 'CONFIRMED', decided_at = $2, context = $3
             WHERE id = $1 AND state = 'PENDING' RETURNING amount`,
  request: `INSERT INTO withdrawal_requests (id, partner_id, client_id, shard, state, version, context, currency, amount, created_at)
            VALUES ($1, $2, $3, 0, 'REQUESTED', '1', $4, 'USDC', $5, $6)`,
  cancel: `UPDATE withdrawal_requests SET state = 'CANCELLED', context = $2
            WHERE id = $1 AND state = 'REQUESTED' RETURNING amount`,
  transaction: `INSERT INTO ledger_transactions (tx_id, key, type, actor, client_id, partner_id, refs, ts)
                VALUES ($1, $2, $3, 'partner:BENCH', $4, $5, $6, $7)`,
  posting: `INSERT INTO postings (posting_id, tx_id, account, client_id, partner_id, currency, kind, amount)
            VALUES ($1, $2, $3, $4, $5, 'USDC', $6, $7)`,
  balance: `UPDATE balances SET cash = cash + $2, reserved = reserved + $3, deposited = deposited + $4
             WHERE client_id = $1 AND currency = 'USDC'`,
  event: "INSERT INTO events (partner_id, seq, name, client_id, data, ts) VALUES ($1, $2, $3, $4, $5, $6)",
  audit: `INSERT INTO audit (id, ts, role, key_label, request_id, partner_id, client_id, object, action)
          VALUES ($1, $2, 'PARTNER', 'bench', $3, $4, $5, $6, $7)`,
  subject: "UPDATE subjects SET token = token + 1 WHERE subject = $1",
  house: "UPDATE house_balances SET amount = amount + $1 WHERE account = 'transit'",
  storeAnswer: `INSERT INTO answers (principal, key, fingerprint, status, body, answered_at)
                VALUES ('partner:' || $1::text, $2, 'x', 200, $3, $4)`,
  items: "SELECT id, state, client_id FROM settlement_items WHERE id = ANY($1) ORDER BY id FOR UPDATE",
  settle: `UPDATE settlement_items SET state = 'SETTLED', context = (context::jsonb || $2::jsonb)::json
            WHERE id = ANY($1) AND state <> 'SETTLED'`,
  audits: `INSERT INTO audit (id, ts, role, key_label, request_id, partner_id, client_id, object, action, before, after)
           SELECT $2 + ordinality, $3, 'PARTNER', 'bench', $4, $5, client, 'settlementItem:' || item, 'settlement.report', 'PENDING', 'SETTLED'
             FROM unnest($1::bigint[], $6::bigint[]) WITH ORDINALITY AS i (item, client, ordinality)`,
  // Rows are locked in one order, because two reports of the same clients would otherwise deadlock.
  subjects: `WITH held AS (SELECT subject FROM subjects WHERE subject = ANY($1) ORDER BY subject FOR UPDATE)
             UPDATE subjects s SET token = token + 1 FROM held WHERE s.subject = held.subject`
} as const

type Run = (name: keyof typeof statements, values: ReadonlyArray<unknown>) => Promise<ReadonlyArray<Row>>
type Row = Readonly<Record<string, string>>

interface Desk {
  readonly run: Run
  readonly ids: ReferenceIds
  readonly partnerId: number
}

const transact = async <A>(connection: ClientBase, work: (run: Run) => Promise<A>): Promise<A> => {
  await connection.query("BEGIN")
  try {
    const made = await work(
      async (name, values) => (await connection.query<Row>({ name, text: statements[name], values: [...values] })).rows
    )
    await connection.query("COMMIT")
    return made
  } catch (error) {
    await connection.query("ROLLBACK")
    throw error
  }
}

interface Posted {
  readonly key: string
  readonly type: string
  readonly clientId: number
  /** Changes of cash, reserve and lifetime deposits; the opposite amount goes to the transit account. */
  readonly change: readonly [cash: bigint, reserved: bigint, deposited: bigint]
}

const book = async ({ run, ids, partnerId }: Desk, { key, type, clientId, change }: Posted): Promise<void> => {
  const txId = ids.next("transaction")
  const [cash, reserved, deposited] = change
  const house = -cash - reserved
  await run("transaction", [txId, key, type, clientId, partnerId, JSON.stringify({ partnerId, key }), Date.now()])
  const own = `client:${clientId}`
  await run("posting", [ids.next("posting"), txId, own, clientId, partnerId, "cash", cash])
  await run(
    "posting",
    house === 0n
      ? [ids.next("posting"), txId, own, clientId, partnerId, "reserved", reserved]
      : [ids.next("posting"), txId, "transit", null, partnerId, "cash", house]
  )
  await run("balance", [clientId, cash, reserved, deposited])
  if (house !== 0n) await run("house", [house])
}

/** Writes the event, the audit row and the commit token of a step. */
const note = async (
  { run, ids, partnerId }: Desk,
  clientId: number,
  object: string,
  action: string,
  event: string | null
) => {
  const data = JSON.stringify({ object, action, currency: "USDC", amount: "1.250000", status: "OPEN" })
  if (event !== null) await run("event", [partnerId, ids.next("event"), event, clientId, data, Date.now()])
  await run("audit", [ids.next("audit"), Date.now(), randomUUID(), partnerId, clientId, object, action])
  await run("subject", [`client:${clientId}`])
}

const contextOf = (id: number, clientId: number): string =>
  JSON.stringify({
    id,
    clientId,
    clientUid: `BENCH-${clientId}`,
    currency: "USDC",
    amount: "1.250000",
    decidedBy: null
  })

const answerWith = (desk: Desk, id: number, clientId: number) =>
  desk.run("storeAnswer", [desk.partnerId, randomUUID(), Buffer.from(contextOf(id, clientId)), Date.now()])

const deposit = async (
  connection: ClientBase,
  desk: Omit<Desk, "run">,
  clientId: number,
  ref: string
): Promise<void> => {
  const id = desk.ids.next("report")
  await transact(connection, async (run) => {
    const at = { ...desk, run }
    await run("answer", [desk.partnerId, ref])
    await run("client", [clientId])
    await run("claim", [`deposit:${desk.partnerId}:${ref}`, id])
    await run("notice", [id, desk.partnerId, clientId, contextOf(id, clientId), 1_250_000, Date.now()])
    await note(at, clientId, `depositNotice:${id}`, "deposit.file", null)
    await answerWith(at, id, clientId)
  })
  await transact(connection, async (run) => {
    const at = { ...desk, run }
    await run("client", [clientId])
    const [{ amount = "0" } = {}] = await run("confirm", [id, Date.now(), contextOf(id, clientId)])
    const change = [BigInt(amount), 0n, BigInt(amount)] as const
    await note(at, clientId, `depositNotice:${id}`, "deposit.confirm", "deposit.confirmed")
    await book(at, { key: `deposit:${id}`, type: "DEPOSIT", clientId, change })
  })
}

const withdrawal = async (
  connection: ClientBase,
  desk: Omit<Desk, "run">,
  clientId: number,
  ref: string
): Promise<void> => {
  const id = desk.ids.next("report")
  const object = `withdrawalRequest:${id}`
  const amount = 10_000n
  await transact(connection, async (run) => {
    const at = { ...desk, run }
    await run("answer", [desk.partnerId, ref])
    const [{ cash = "0" } = {}] = await run("client", [clientId])
    if (BigInt(cash) < amount) throw new Error("a client of plain SQL has no cash")
    await run("claim", [`withdrawal:${desk.partnerId}:${ref}`, id])
    await run("request", [id, desk.partnerId, clientId, contextOf(id, clientId), amount, Date.now()])
    await book(at, {
      key: `withdrawal:${id}:reserve`,
      type: "WITHDRAWAL_RESERVE",
      clientId,
      change: [-amount, amount, 0n]
    })
    await note(at, clientId, object, "withdrawal.request", "withdrawal.status")
    await answerWith(at, id, clientId)
  })
  await transact(connection, async (run) => {
    const at = { ...desk, run }
    await run("answer", [desk.partnerId, `${ref}c`])
    await run("client", [clientId])
    await run("cancel", [id, contextOf(id, clientId)])
    await book(at, {
      key: `withdrawal:${id}:release`,
      type: "WITHDRAWAL_RELEASE",
      clientId,
      change: [amount, -amount, 0n]
    })
    await note(at, clientId, object, "withdrawal.cancel", "withdrawal.status")
    await answerWith(at, id, clientId)
  })
}

const settle = (
  connection: ClientBase,
  { ids, partnerId }: Omit<Desk, "run">,
  items: ReadonlyArray<number>
): Promise<void> =>
  transact(connection, async (run) => {
    await run("answer", [partnerId, randomUUID()])
    const rows = await run("items", [items])
    const clients = rows.map((row) => Number(row["client_id"]))
    const report = { status: "SETTLED", partnerTxRef: "bank", settledAt: Date.now(), reportedAt: Date.now() }
    await run("settle", [items, JSON.stringify(report)])
    const before = ids.next("audit")
    for (let n = 0; n < rows.length; n++) ids.next("audit")
    await run("audits", [rows.map(({ id }) => id), before, Date.now(), randomUUID(), partnerId, clients])
    await run("subjects", [[...new Set(clients)].sort((a, b) => a - b).map((id) => `client:${id}`)])
    const results = items.map((itemId) => ({ itemId, ok: true, changed: true, status: "SETTLED" }))
    await run("storeAnswer", [partnerId, randomUUID(), Buffer.from(JSON.stringify(results)), Date.now()])
  })

const desks = new Map<string, { readonly pool: Pool; readonly ids: ReferenceIds; readonly partnerId: number }>()

const deskOf = async ({ databaseUrl, clientIds }: PlainMoneyQuestion) => {
  const known = desks.get(databaseUrl)
  if (known !== undefined) return known
  const pool = new Pool({ connectionString: databaseUrl, max: 16, idleTimeoutMillis: 0 })
  const { rows } = await pool.query<Row>("SELECT partner_id FROM clients WHERE id = $1", [clientIds[0]])
  await pool.query("INSERT INTO house_balances (account, amount) VALUES ('transit', 0)")
  const made = { pool, ids: await loadReferenceIds(pool), partnerId: Number(rows[0]?.["partner_id"]) }
  desks.set(databaseUrl, made)
  return made
}

/** Runs one window. Every begun step is completed, and counts in `done`. */
const run = async (question: PlainMoneyQuestion): Promise<PlainMoneyResult> => {
  const { pool, ...desk } = await deskOf(question)
  const { kind, clientIds, itemIds } = question
  const latencies: Array<number> = []
  const weight = kind === "bulk" ? bulkEntries : 1
  let count = 0
  let at = 0
  let done = 0
  const startedAt = performance.now()
  const deadline = startedAt + question.millis
  let lastAt = startedAt
  const one = async (connection: ClientBase): Promise<boolean> => {
    const clientId = clientIds[count++ % clientIds.length] as number
    if (kind === "deposits") await deposit(connection, desk, clientId, `${question.tag}-${count}`)
    else if (kind === "withdrawals") await withdrawal(connection, desk, clientId, `${question.tag}-${count}`)
    else if (at + bulkEntries > itemIds.length) return false
    else await settle(connection, desk, itemIds.slice(at, (at += bulkEntries)))
    return true
  }
  const work = async () => {
    const connection = await pool.connect()
    try {
      for (let begun = performance.now(); begun < deadline; begun = performance.now()) {
        if (!(await one(connection))) return
        done += weight
        const ended = performance.now()
        if (ended > deadline) continue
        latencies.push(ended - begun)
        lastAt = ended
      }
    } finally {
      connection.release()
    }
  }
  await Promise.all(Array.from({ length: question.concurrency }, work))
  const ascending = Float64Array.from(latencies).sort()
  const elapsed = kind === "bulk" ? lastAt - startedAt : question.millis
  return {
    rate: ((latencies.length * weight) / Math.max(1, elapsed)) * 1_000,
    done,
    p50Millis: percentile(ascending, 0.5),
    p99Millis: percentile(ascending, 0.99)
  }
}

answerParent(run)
