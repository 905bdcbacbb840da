/**
 * A collateral report as one plain transaction: BEGIN, key lookup, SELECT ... FOR UPDATE, inserts one by one, the house
 * balance, COMMIT. It stores the same rows as the service for one request (commit token, claim, report, ledger
 * transaction, two postings, client balance, event, audit row with its chain, stored answer), and the house balance as
 * a row, as such systems usually do.
 *
 * The reference does less work than the service: ids come from memory, event numbers may have gaps, the audit chain is
 * per client (a chain over all rows would serialise every request), the database checks no sums, and the stored answer
 * is not encrypted.
 */
import { createHash } from "node:crypto"
import type { ClientBase } from "pg"
import type { Style } from "./protocol.ts"
import type { ReferenceIds } from "./ReferenceIds.ts"

export interface CollateralBody {
  readonly partnerRef: string
  readonly direction: "DEPOSIT"
  readonly amount: string
  readonly currency?: "USDC"
  readonly sourceAsset?: string
  readonly txRef?: string
  readonly occurredAt?: number
}

export interface CollateralWrite {
  readonly partnerId: number
  readonly clientId: number
  readonly idempotencyKey: string
  readonly requestId: string
  /** The body as sent: its hash protects the key against use by another request. */
  readonly text: string
  readonly body: CollateralBody
  readonly now: number
}

export interface StoredAnswer {
  readonly status: number
  readonly text: string
}

interface LockedClient {
  readonly uid: string
  readonly state: string
  readonly level: string
  readonly cash: string
  readonly audit_head: string
}

const statements = {
  answer: "SELECT fingerprint, status, body FROM answers WHERE principal = 'partner:' || $1::text AND key = $2",
  // All three rows are locked, because only a locked row is read again after the wait for its earlier holder.
  client: `SELECT c.uid, c.state, c.level, b.cash, s.audit_head FROM clients c
             JOIN balances b ON b.client_id = c.id AND b.currency = 'USDC'
             JOIN subjects s ON s.subject = $3
            WHERE c.id = $1 AND c.partner_id = $2 FOR UPDATE`,
  claim: "INSERT INTO claims (name, owner) VALUES ($1, $2)",
  report: `INSERT INTO collateral_reports (id, partner_id, client_id, shard, state, version, context, created_at)
           VALUES ($1, $2, $3, $4, 'BOOKED', '1', $5, $6)`,
  transaction: `INSERT INTO ledger_transactions (tx_id, key, type, actor, reason, client_id, partner_id, refs, ts)
                VALUES ($1, $2, 'PARTNER_COLLATERAL_IN', $3, NULL, $4, $5, $6, $7)`,
  posting: `INSERT INTO postings (posting_id, tx_id, account, client_id, partner_id, currency, kind, amount)
            VALUES ($1, $2, $3, $4, $5, 'USDC', 'cash', $6)`,
  subject: "UPDATE subjects SET token = token + 1, audit_head = $2 WHERE subject = $1",
  balance: `UPDATE balances SET cash = cash + $2, deposited = deposited + $2
             WHERE client_id = $1 AND currency = 'USDC'`,
  house: "UPDATE house_balances SET amount = amount - $2 WHERE account = $1",
  event: `INSERT INTO events (partner_id, seq, name, client_id, data, ts)
          VALUES ($1, $2, 'collateral.booked', $3, $4, $5)`,
  audit: `INSERT INTO audit (id, ts, role, key_label, request_id, partner_id, client_id, object, action, before, after, reason)
          VALUES ($1, $2, 'PARTNER', 'bench', $3, $4, $5, $6, 'collateral.report', NULL, 'BOOKED', NULL)`,
  storeAnswer: `INSERT INTO answers (principal, key, fingerprint, status, body, answered_at)
                VALUES ('partner:' || $1::text, $2, $3, $4, $5, $6)`
} as const

type Run = (name: keyof typeof statements, values: ReadonlyArray<unknown>) => Promise<ReadonlyArray<unknown>>

const runner =
  (connection: ClientBase, style: Style): Run =>
  async (name, values) => {
    const text = statements[name]
    const query = style === "tuned" ? { name, text, values: [...values] } : { text, values: [...values] }
    return (await connection.query(query)).rows
  }

/** Books the report (status 201), replays a stored answer, or refuses. Rolls back after any failure. */
export const writeCollateral = async (
  connection: ClientBase,
  style: Style,
  ids: ReferenceIds,
  write: CollateralWrite
): Promise<StoredAnswer> => {
  await connection.query("BEGIN")
  try {
    const answer = await bookCollateral(runner(connection, style), style, ids, write)
    await connection.query("COMMIT")
    return answer
  } catch (error) {
    await connection.query("ROLLBACK")
    throw error
  }
}

const bookCollateral = async (
  run: Run,
  style: Style,
  ids: ReferenceIds,
  write: CollateralWrite
): Promise<StoredAnswer> => {
  const { partnerId, clientId, body, now } = write
  const subject = `client:${clientId}`
  const fingerprint = createHash("sha256").update(`POST /clients/${clientId}/collateral\n${write.text}`).digest("hex")
  const [stored] = (await run("answer", [partnerId, write.idempotencyKey])) as ReadonlyArray<{
    readonly fingerprint: string
    readonly status: string
    readonly body: Buffer
  }>
  if (stored !== undefined) {
    return stored.fingerprint === fingerprint
      ? { status: Number(stored.status), text: stored.body.toString("utf8") }
      : refusal(409, 4092, "This Idempotency-Key was used for another request.")
  }
  const [client] = (await run("client", [clientId, partnerId, subject])) as ReadonlyArray<LockedClient>
  if (client === undefined) return refusal(404, 4004, "Client not found.")
  if (client.state !== "ACTIVE" || client.level === "NONE") return refusal(409, 4092, "The account is not open.")
  const reportId = ids.next("report")
  const txId = ids.next("transaction")
  const minor = toMinor(body.amount)
  const cash = BigInt(client.cash) + minor
  const account = `partner_custody:${partnerId}`
  const report = reportOf(write, client.uid, reportId, txId)
  const auditId = ids.next("audit")
  const head = auditHead(client.audit_head, auditId, write)
  const text = answerText(report, cash)
  await run("claim", [`collateral:${partnerId}:${body.partnerRef}`, reportId])
  await run("report", [
    reportId,
    partnerId,
    clientId,
    clientId % 1_024,
    JSON.stringify({ ...report, refusal: null }),
    now
  ])
  await run("transaction", [
    txId,
    `collateral:${reportId}`,
    "partner:BENCH",
    clientId,
    partnerId,
    JSON.stringify(refsOf(report)),
    now
  ])
  await run("posting", [ids.next("posting"), txId, subject, clientId, partnerId, minor])
  await run("posting", [ids.next("posting"), txId, account, null, partnerId, -minor])
  await run("balance", [clientId, minor])
  await run("event", [partnerId, ids.next("event"), clientId, JSON.stringify(report), now])
  await run("audit", [auditId, now, write.requestId, partnerId, clientId, `collateralReport:${reportId}`])
  await run("subject", [subject, head])
  // The typical style writes the house account before the stored answer; the tuned style locks this shared row last.
  if (style === "typical") await run("house", [account, minor])
  await run("storeAnswer", [partnerId, write.idempotencyKey, fingerprint, 201, Buffer.from(text), now])
  if (style === "tuned") await run("house", [account, minor])
  return { status: 201, text }
}

/** The link of the audit row in its client's chain. The head of the chain is stored with the client's token. */
const auditHead = (
  previous: string,
  auditId: number,
  { now, requestId, partnerId, clientId }: CollateralWrite
): string => {
  const row = [
    auditId,
    now,
    "PARTNER",
    "bench",
    requestId,
    partnerId,
    clientId,
    "collateral.report",
    null,
    "BOOKED",
    null
  ]
  return createHash("sha256")
    .update(JSON.stringify([previous, ...row]))
    .digest("hex")
}

const refsOf = (report: ReturnType<typeof reportOf>) => ({
  partnerId: report.partnerId,
  reportId: report.reportId,
  partnerRef: report.partnerRef,
  sourceAsset: report.sourceAsset,
  txRef: report.txRef,
  direction: report.direction,
  occurredAt: report.occurredAt
})

/** Micro-USDC of a checked decimal string. */
const toMinor = (amount: string): bigint => {
  const [whole = "0", fraction = ""] = amount.split(".")
  return BigInt(whole + fraction.padEnd(6, "0"))
}

const formatMinor = (minor: bigint): string => {
  const digits = String(minor).padStart(7, "0")
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`
}

const reportOf = (
  { partnerId, clientId, body, now }: CollateralWrite,
  clientUid: string,
  reportId: number,
  txId: number
) => ({
  reportId,
  partnerId,
  clientId,
  clientUid,
  partnerRef: body.partnerRef,
  direction: body.direction,
  currency: "USDC",
  amount: formatMinor(toMinor(body.amount)),
  sourceAsset: body.sourceAsset ?? "USD",
  txRef: body.txRef ?? null,
  occurredAt: body.occurredAt ?? now,
  status: "BOOKED",
  refusal: "",
  ledgerTxId: txId,
  createdAt: now
})

const answerText = (report: ReturnType<typeof reportOf>, cash: bigint): string => {
  const usdc = formatMinor(cash)
  return JSON.stringify({
    code: 0,
    data: {
      reportId: report.reportId,
      status: report.status,
      ledgerTxId: report.ledgerTxId,
      balances: { cash: usdc, reserved: formatMinor(0n), free: usdc, freeMargin: usdc },
      report
    }
  })
}

const refusal = (status: number, code: number, msg: string): StoredAnswer => ({
  status,
  text: JSON.stringify({ code, msg, error: msg })
})
