/**
 * Compares the partner's books with the service's: replays every acknowledged answer under its key, and compares all readable
 * data with the acknowledgements. Nothing may be lost, doubled or different after kill -9 (SC-PLT-04, SC-PLT-05).
 */
import { Effect } from "effect"
import type { ClientWire } from "../../src/machines/client/ClientWire.ts"
import type { CollateralReport } from "../../src/machines/collateral/CollateralReport.ts"
import { formatAmount, parseAmount } from "../../src/machines/shared/Money.ts"
import type { AcknowledgedJournal, KnownClient, KnownReport } from "./AcknowledgedJournal.ts"
import { callOf, sameAnswer } from "./PartnerBot.ts"
import type { PartnerClient } from "./PartnerClient.ts"
import { makePartnerReads, type PartnerReads, type ReadRefused } from "./PartnerReads.ts"
import type { SeededRandom } from "./SeededRandom.ts"
import { makeTally, sendUntilAcknowledged } from "./sendUntilAcknowledged.ts"

export interface AuditReport {
  readonly acknowledged: number
  /** The number of acknowledged requests that were replayed and gave the same bytes. */
  readonly replays: number
  readonly clients: number
  readonly reports: number
  readonly postings: number
  /** Objects that were acknowledged, but are missing or different now. */
  readonly lost: ReadonlyArray<string>
  /** Objects that exist twice, or exist without a request. */
  readonly doubled: ReadonlyArray<string>
  /** Differences that are neither a lost nor a doubled object. */
  readonly wrong: ReadonlyArray<string>
}

export interface AuditOptions {
  readonly client: PartnerClient
  readonly random: SeededRandom
  readonly journal: AcknowledgedJournal
  /** Every nth acknowledged answer is replayed; 1 means all of them. */
  readonly replayEvery?: number
  /** Prefix of this run's references; other references belong to other runs. */
  readonly tag: string
  readonly concurrency?: number
}

interface Findings {
  readonly lost: Array<string>
  readonly doubled: Array<string>
  readonly wrong: Array<string>
}

/**
 * Audits a partner after a run. No request may be in flight. Waits while the service is unavailable, so the caller sets a
 * limit.
 */
export const auditPartner = Effect.fnUntraced(function* (options: AuditOptions): Effect.fn.Return<AuditReport> {
  const findings: Findings = { lost: [], doubled: [], wrong: [] }
  const { journal } = options
  const replays = yield* replayAll(options, findings)
  const postings = yield* compareBooks(options, findings).pipe(
    Effect.catchTag("ReadRefused", ({ sentence }) => {
      findings.wrong.push(sentence)
      return Effect.succeed(0)
    })
  )
  return {
    ...findings,
    acknowledged: journal.entries.length,
    replays,
    clients: journal.clients.size,
    reports: journal.reports.size,
    postings
  }
})

/** Compares all readable data with the acknowledgements. Returns the number of postings. */
const compareBooks = Effect.fnUntraced(function* (
  options: AuditOptions,
  findings: Findings
): Effect.fn.Return<number, ReadRefused> {
  const reads = makePartnerReads(options.client, options.random)
  const mark = `${options.tag}-`
  const clients = yield* reads.clients
  compareClients(
    options.journal,
    clients.filter(({ partnerClientRef }) => partnerClientRef.startsWith(mark)),
    findings
  )
  const reports = yield* reads.reports
  compareReports(
    options.journal,
    reports.filter(({ partnerRef }) => partnerRef.startsWith(mark)),
    findings
  )
  const byClient = reportsByClient(options.journal)
  const counts = yield* Effect.forEach(
    options.journal.clients.values(),
    (client) => compareMoney(reads, client, byClient.get(client.clientId) ?? new Map(), findings),
    { concurrency: options.concurrency ?? 8 }
  )
  return counts.reduce((sum, count) => sum + count, 0)
})

const replayAll = Effect.fnUntraced(function* (options: AuditOptions, findings: Findings) {
  const every = options.replayEvery ?? 1
  const chosen = options.journal.entries.filter((_, index) => index % every === 0)
  yield* Effect.forEach(
    chosen,
    Effect.fnUntraced(function* (entry) {
      const again = yield* sendUntilAcknowledged(options.client, callOf(entry.request), options.random, makeTally())
      const key = entry.request.idempotencyKey
      if (!sameAnswer(entry, again))
        findings.lost.push(
          `The answer of key ${key} was ${entry.status} and is now ${again.status}, or its bytes differ.`
        )
      else if (!again.replayed) findings.doubled.push(`Key ${key} was executed again instead of replayed.`)
    }),
    { concurrency: options.concurrency ?? 8, discard: true }
  )
  return chosen.length
})

const compareClients = (
  journal: AcknowledgedJournal,
  rows: ReadonlyArray<typeof ClientWire.Type>,
  findings: Findings
): void => {
  const known = new Map([...journal.clients.values()].map((client) => [client.partnerClientRef, client]))
  compareKeys(
    rows.map(({ partnerClientRef }) => partnerClientRef),
    known,
    "client reference",
    findings
  )
  if (new Set(rows.map(({ email }) => email)).size !== rows.length)
    findings.doubled.push("Two clients have one e-mail address.")
  for (const row of rows) {
    const client = known.get(row.partnerClientRef)
    if (client === undefined) continue
    if (row.clientId !== client.clientId || row.clientUid !== client.clientUid || row.email !== client.email) {
      findings.wrong.push(`Client ${client.clientId} is listed with another id, uid or address.`)
    }
    if (parseAmount(row.cashUsdc, "USDC") !== client.cash)
      findings.wrong.push(`Client ${client.clientId} is listed with cash ${row.cashUsdc}.`)
  }
}

const compareReports = (
  journal: AcknowledgedJournal,
  rows: ReadonlyArray<CollateralReport>,
  findings: Findings
): void => {
  const known = journal.reports
  compareKeys(
    rows.map(({ partnerRef }) => partnerRef),
    known,
    "collateral report",
    findings
  )
  for (const row of rows) {
    const report = known.get(row.partnerRef)
    if (report === undefined) continue
    const { plan } = report
    const same =
      row.reportId === report.reportId &&
      row.ledgerTxId === report.ledgerTxId &&
      row.clientId === plan.clientId &&
      row.amount === formatAmount(plan.amount, "USDC") &&
      row.direction === plan.direction &&
      row.status === "BOOKED"
    if (!same) findings.wrong.push(`Report ${plan.partnerRef} is listed differently from what was acknowledged.`)
  }
}

/** Checks that each expected key occurs once, and that no other key occurs. */
const compareKeys = (
  found: ReadonlyArray<string>,
  expected: ReadonlyMap<string, unknown>,
  what: string,
  findings: Findings
): void => {
  const seen = new Set<string>()
  for (const key of found) {
    if (seen.has(key)) findings.doubled.push(`The ${what} ${key} is there twice.`)
    else if (!expected.has(key)) findings.doubled.push(`The ${what} ${key} is there and was never acknowledged.`)
    seen.add(key)
  }
  for (const key of expected.keys())
    if (!seen.has(key)) findings.lost.push(`The ${what} ${key} was acknowledged and is missing.`)
}

/** Checks the balance to the last unit, and one posting for each report. Returns the number of postings. */
const compareMoney = Effect.fnUntraced(function* (
  reads: PartnerReads,
  client: KnownClient,
  reports: ReadonlyMap<number, KnownReport>,
  findings: Findings
): Effect.fn.Return<number, ReadRefused> {
  const balances = yield* reads.balances(client.clientId)
  const cash = balances.find(({ currency }) => currency === "USDC")?.cash
  if (cash === undefined || parseAmount(cash, "USDC") !== client.cash) {
    findings.wrong.push(
      `Client ${client.clientId} has cash ${cash}, ${formatAmount(client.cash, "USDC")} was acknowledged.`
    )
  }
  const postings = yield* reads.ledger(client.clientId)
  const booked = new Set<number>()
  for (const posting of postings) {
    const report = reports.get(posting.txId)
    if (booked.has(posting.txId))
      findings.doubled.push(`Transaction ${posting.txId} has two postings on client ${client.clientId}.`)
    booked.add(posting.txId)
    if (report === undefined) {
      findings.doubled.push(`Transaction ${posting.txId} on client ${client.clientId} was never acknowledged.`)
      continue
    }
    const sign = report.plan.direction === "DEPOSIT" ? "" : "-"
    if (posting.amount !== `${sign}${formatAmount(report.plan.amount, "USDC")}`)
      findings.wrong.push(`Transaction ${posting.txId} has another amount.`)
  }
  for (const txId of reports.keys())
    if (!booked.has(txId)) findings.lost.push(`Transaction ${txId} was acknowledged and has no posting.`)
  return postings.length
})

const reportsByClient = (journal: AcknowledgedJournal): ReadonlyMap<number, Map<number, KnownReport>> => {
  const byClient = new Map<number, Map<number, KnownReport>>()
  for (const report of journal.reports.values()) {
    const { clientId } = report.plan
    const own = byClient.get(clientId) ?? new Map<number, KnownReport>()
    own.set(report.ledgerTxId, report)
    byClient.set(clientId, own)
  }
  return byClient
}
