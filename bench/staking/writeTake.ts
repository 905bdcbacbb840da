/**
 * The writes of the reference services for a take: the held amount before the venue call, and the outcome after it.
 * Each is a commit, because the call must survive a crash. The rows are those of the service: swap, two transactions
 * with their postings, balance, call, three audit rows, settlement item with its event (the webhook's row), timer of
 * maturity, totals, stored answer. `typical` writes them one by one; `tuned` prepares its statements, reads with one
 * query and writes all rows of a commit by one statement.
 *
 * The references do less work than the service: ids come from memory, the offer's terms are known in advance, stored
 * answers are not encrypted, there are no seals, no venue event is read, daily sums are not kept, only the gates of
 * state, level, cash and size are checked, and a call without an answer of the venue is not resolved.
 */
import { type ClientBase, type Pool, type QueryResultRow } from "pg"
import { formatAmount } from "../../src/machines/shared/Money.ts"
import type { Style } from "../reference/protocol.ts"
import type { ReferenceIds } from "../reference/ReferenceIds.ts"
import { transact } from "../reference/transact.ts"
import type { HeldOffer } from "./protocol.ts"
import { type Context, contextOf, notionalOf } from "./takeRow.ts"
import { type TakeStatement, takeStatements } from "./takeStatements.ts"

/** The same for both references: the ids of a swap's two transactions and of their postings derive from the swap's id. */
export interface Desk {
  readonly pool: Pool
  readonly style: Style
  readonly ids: ReferenceIds
  readonly offer: HeldOffer
  readonly prefix: string
}

export interface Asked {
  readonly partnerId: number
  readonly requestId: string
  readonly idempotencyKey: string
}

export interface RequestedTake extends Asked {
  readonly swapId: number
  readonly clientId: number
  readonly qty: string
}

/** The venue's outcome of a take. */
export interface Executed {
  readonly contractId: number
  readonly tradeId: number
  readonly openedAt: number
  readonly maturityAt: number
}

export interface Begun {
  readonly context: Context
  readonly notional: bigint
  readonly clientRef: string
}

type Run = <Row extends QueryResultRow>(
  name: TakeStatement,
  values: ReadonlyArray<unknown>
) => Promise<ReadonlyArray<Row>>

/** Runs a statement, prepared in the tuned style. */
const runnerOf =
  (sql: ClientBase | Pool, style: Style): Run =>
  async <Row extends QueryResultRow>(name: TakeStatement, values: ReadonlyArray<unknown>) => {
    const prepared = style === "tuned" ? { name } : {}
    return (await sql.query<Row>({ ...prepared, text: takeStatements[name], values: [...values] })).rows
  }

const refuse = (sentence: string): never => {
  throw new Error(sentence)
}

interface ClientRecord extends QueryResultRow {
  readonly uid: string
  readonly state: string
  readonly level: string
  readonly partner_client_ref: string
  readonly cash: string
  readonly held?: string
  readonly answered?: string
}

/** Checks the gates, and writes swap, held amount, call and audit row. */
export const writeTaking = ({ pool, style, ids, offer, prefix }: Desk, asked: RequestedTake): Promise<Begun> =>
  transact(pool, async (sql) => {
    const run = runnerOf(sql, style)
    const { partnerId, requestId, swapId, clientId, qty, idempotencyKey } = asked
    const client = await clientOf(run, style, asked)
    if (client?.state !== "ACTIVE" || client.level !== "MICA_MIFID") return refuse("no such client")
    const notional = notionalOf(qty) ?? refuse("the quantity is off the grid")
    if (client.answered !== undefined && client.answered !== "0") refuse(`the key ${idempotencyKey} was used before`)
    if (BigInt(client.cash) - BigInt(client.held ?? 0) < notional) refuse("the free cash does not cover the notional")
    const at = Date.now()
    const context = contextOf({ ...offer, swapId, clientId, account: client.uid, qty, notional, at })
    const refs = JSON.stringify({ swapId, offerId: offer.offerId, notional: context.notional, fee: context.fee })
    const ref = `${prefix}-S${swapId}`
    const call = JSON.stringify({ ref, account: client.uid, offerId: offer.offerId, qty })
    const [txId, debit, credit] = [ids.next("transaction"), ids.next("posting"), ids.next("posting")]
    const auditId = ids.next("audit")
    const reward = context.reward.replace(".", "")
    if (style === "tuned") {
      const swap = [swapId, partnerId, clientId, JSON.stringify(context), notional, reward, at]
      await run("taking", [...swap, txId, debit, credit, refs, ref, call, auditId, requestId])
    } else {
      await run("swap", [swapId, partnerId, clientId, JSON.stringify(context), notional, reward, at])
      await run("transaction", [txId, `swapReserve:${swapId}`, "SWAP_RESERVE", clientId, partnerId, refs, at])
      const account = `client:${clientId}`
      await run("posting", [debit, txId, account, clientId, partnerId, "cash", -notional])
      await run("posting", [credit, txId, account, clientId, partnerId, "reserved", notional])
      await run("reserve", [clientId, notional])
      await run("call", [ref, partnerId, clientId, call, at])
      await run("audit", [auditId, at, requestId, partnerId, clientId, `swap:${swapId}`, "swap.take", "ACCEPTING"])
    }
    return { context, notional, clientRef: client.partner_client_ref }
  })

/** Reads and locks the client and its held cash, with one query in the tuned style. */
const clientOf = async (run: Run, style: Style, { clientId, partnerId, idempotencyKey }: RequestedTake) => {
  if (style === "tuned") {
    const [client] = await run<ClientRecord>("look", [clientId, partnerId, idempotencyKey])
    return client
  }
  const [answered] = await run("answer", [partnerId, idempotencyKey])
  if (answered !== undefined) refuse("the key was used before")
  const [client] = await run<ClientRecord>("client", [clientId, partnerId])
  const [positions] = await run<{ readonly held: string }>("positions", [clientId])
  const [orders] = await run<{ readonly held: string }>("orders", [clientId])
  const held = String(BigInt(positions?.held ?? 0) + BigInt(orders?.held ?? 0))
  return client === undefined ? undefined : { ...client, held }
}

/** Writes the venue's outcome, and the answer to the partner. */
export const writeTaken = async (
  { pool, style, ids, prefix }: Desk,
  asked: RequestedTake & { readonly fingerprint: string; readonly body: string },
  { context, notional, clientRef }: Begun,
  executed: Executed
): Promise<void> => {
  const { partnerId, clientId, swapId, idempotencyKey, fingerprint, body } = asked
  const { contractId, tradeId, openedAt, maturityAt } = executed
  const now = Date.now()
  const taken = JSON.stringify({ ...context, contractId, tradeId, openedTs: openedAt, maturityTs: maturityAt, ts: now })
  const refs = { contractId, swapId, notional: context.notional, fee: context.fee }
  const [txId, debit, credit] = [ids.next("transaction"), ids.next("posting"), ids.next("posting")]
  const [itemAudit, swapAudit, event] = [ids.next("audit"), ids.next("audit"), ids.next("event")]
  const item = JSON.stringify({
    itemId: txId,
    clientId,
    clientUid: context.account,
    partnerClientRef: clientRef,
    type: "SWAP_PRINCIPAL",
    currency: "USDC",
    amount: formatAmount(-notional, "USDC"),
    refs,
    occurredAt: now,
    ledgerTxId: txId,
    createdAt: now,
    partnerTxRef: null,
    settledAt: null,
    reportedAt: null,
    note: null,
    reports: 0
  })
  const ref = `${prefix}-S${swapId}`
  const stored = [partnerId, idempotencyKey, fingerprint, Buffer.from(body), now] as const
  const dueAt = maturityAt + 3_600_000
  if (style === "tuned") {
    const swap = [swapId, taken, contractId, openedAt, maturityAt, clientId, partnerId, now, notional]
    const ledger = [txId, debit, credit, JSON.stringify(refs), item, event, itemAudit, swapAudit, dueAt, ref]
    await runnerOf(pool, style)("taken", [...swap, ...ledger, idempotencyKey, fingerprint, Buffer.from(body)])
    return
  }
  await transact(pool, async (sql) => {
    const run = runnerOf(sql, style)
    await run("read", [swapId, clientId])
    await run("open", [swapId, taken, contractId, openedAt, maturityAt])
    const principal = ["SWAP_PRINCIPAL", clientId, partnerId, JSON.stringify(refs), now] as const
    await run("transaction", [txId, `swapPrincipal:${swapId}`, ...principal])
    await run("posting", [debit, txId, `client:${clientId}`, clientId, partnerId, "reserved", -notional])
    await run("posting", [credit, txId, "venue", null, partnerId, "cash", notional])
    await run("lend", [clientId, notional])
    await run("item", [txId, partnerId, clientId, item, -notional, now])
    await run("event", [partnerId, event, clientId, item, now])
    const audit = (id: number, object: string, action: string, after: string) =>
      run("audit", [id, now, "venue", partnerId, clientId, object, action, after])
    await audit(itemAudit, `settlementItem:${txId}`, "settlement.item", "PENDING")
    await audit(swapAudit, `swap:${swapId}`, "swap.open", "OPEN")
    await run("totals", [clientId, partnerId])
    await run("timer", [clientId, swapId, dueAt])
    await run("called", [ref])
    await run("storeAnswer", stored)
  })
}
