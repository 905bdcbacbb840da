/**
 * The auditor's checks of each commit against the commits before it. It implements the rules a second time and shares
 * only the rows with the service (doc 3, Collateral report rules, Settlement item, Webhook registration and delivery;
 * D11).
 */
import type { PolledKind } from "../../src/machines/Effects.ts"
import { machines } from "../../src/machines/registry.ts"
import { parseAmount } from "../../src/machines/shared/Money.ts"
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"
import { catalogue, type TableName } from "../../src/runtime/tables/Catalogue.ts"
import type { AuditRow } from "../../src/runtime/tables/engine.ts"
import type { CollateralReportRow } from "../../src/runtime/tables/collateral.ts"
import type { DeliveryRow, EventRow, NotificationRow } from "../../src/runtime/tables/webhook.ts"
import type { PartnerRow } from "../../src/runtime/tables/partner.ts"
import type { ContractAudit } from "./ContractAudit.ts"
import type { Findings } from "./Findings.ts"
import { MoneyAudit } from "./MoneyAudit.ts"
import { Coverage } from "./Coverage.ts"
import { OperatorAudit } from "./OperatorAudit.ts"
import { PartnerAudit } from "./PartnerAudit.ts"
import { ReviewAudit } from "./ReviewAudit.ts"
import { ScreeningAudit } from "./ScreeningAudit.ts"
import { StatementAudit } from "./StatementAudit.ts"
import { TimerAudit } from "./TimerAudit.ts"

/** The members of a collateral report that the auditor uses. */
export interface ReportFacts {
  readonly partnerRef: string
  readonly direction: "DEPOSIT" | "WITHDRAWAL"
  readonly amount: string
  readonly refusal: string | null
  readonly ledgerTxId: number | null
}

export const factsOf = (row: CollateralReportRow): ReportFacts => row.context as unknown as ReportFacts

/** A decimal amount, which may be negative, in micro-USDC. */
export const minor = (amount: string): bigint => {
  if (amount.startsWith("-")) return -minor(amount.slice(1))
  const parsed = parseAmount(amount, "USDC")
  if (typeof parsed === "string") throw new Error(parsed)
  return parsed
}

/** Transactions that a partner settles with its client when it holds the client's money (F28). */
const owing: ReadonlySet<string> = new Set([
  "MANUAL",
  "COMMISSION",
  "BARRIER_SETTLE",
  "NBP_WRITEOFF",
  "PNL",
  "FUNDING",
  "SPOT_SETTLE",
  "SWAP_PRINCIPAL",
  "SWAP_SETTLE",
  "SWAP_FEE_ADJUST"
])
const polled: ReadonlySet<string> = new Set<PolledKind>([
  "APPROPRIATENESS_RETAKE",
  "BARRIER_OPENED",
  "BARRIER_SETTLED",
  "RFQ_EXPIRED",
  "MARGIN_CALL",
  "CLOSE_OUT",
  "LEVERAGE_LOSS_10",
  "ORDER_FILLED",
  "ORDER_REJECTED"
])

interface Version {
  readonly at: number
  readonly cash: bigint
}

export class CommitAudit {
  /** The number of commits. */
  count = 0
  readonly events: Array<EventRow> = []
  readonly audit: Array<AuditRow> = []
  /** Cash of each client over time, oldest first. */
  readonly cash = new Map<number, Array<Version>>()
  readonly partners = new Map<number, PartnerRow>()
  readonly money: MoneyAudit
  readonly timers: TimerAudit
  readonly changes: PartnerAudit
  readonly review: ReviewAudit
  readonly operator: OperatorAudit
  readonly screening: ScreeningAudit
  readonly statements: StatementAudit
  readonly coverage = new Coverage()
  /** The part of a client's cash that contracts and accepts hold. */
  trading: Pick<ContractAudit, "tied" | "isExposed"> = { tied: () => 0n, isExposed: () => false }
  /** The number of answer rows, and of commits with a request's audit rows, by name. */
  private readonly executions = new Map<string, number>()
  private readonly sums = new Map<string, bigint>()
  /** Transactions for which a settlement item is due. */
  readonly owed = new Set<number>()
  private readonly clientPartners = new Map<number, number>()
  private readonly restrictions = new Map<number, ReadonlyArray<string>>()
  /** The time at which each ACTIVE endpoint became ACTIVE, Unix ms. A new secret does not change it. */
  private readonly activeEndpoints = new Map<number, number>()
  private readonly notifications: Array<NotificationRow> = []
  /** The number of deliveries queued for a notification, by its claim. */
  private readonly forwarded = new Map<string, number>()
  private readonly deliveries = new Map<number, DeliveryRow>()
  private readonly reports = new Map<number, CollateralReportRow>()
  private readonly items = new Set<number>()
  private readonly findings: Findings
  private readonly isKeyed: (requestId: string) => boolean

  /** `isKeyed`: true if the request with this id carries an Idempotency-Key. */
  constructor(
    findings: Findings,
    store: MemoryStore,
    guarded: ReadonlySet<string>,
    isKeyed: (requestId: string) => boolean
  ) {
    this.findings = findings
    this.isKeyed = isKeyed
    this.review = new ReviewAudit(findings, {
      content: (documentId) => store.rows("documentContents").find((row) => row.documentId === documentId)?.content,
      held: (clientId) => this.holdings((owner) => owner === clientId)
    })
    this.screening = new ScreeningAudit(findings, store)
    this.statements = new StatementAudit(findings)
    this.operator = new OperatorAudit(findings, {
      guarded,
      level: (clientId) => this.review.levels.get(clientId),
      cash: (clientId) => this.cash.get(clientId)?.at(-1)?.cash ?? 0n
    })
    this.timers = new TimerAudit(findings, (handler) => this.coverage.fired(handler))
    this.changes = new PartnerAudit(findings, {
      partner: (partnerId) => this.partners.get(partnerId),
      open: (partnerId) => [...this.held(partnerId), ...this.money.open(partnerId)]
    })
    this.money = new MoneyAudit(findings, {
      free: (clientId) => (this.cash.get(clientId)?.at(-1)?.cash ?? 0n) - this.trading.tied(clientId),
      restrictions: (clientId) => this.restrictions.get(clientId) ?? [],
      custody: (partnerId) => this.partners.get(partnerId)?.custodyModel
    })
  }

  /** Checks a written commit. `writer`: the lane that wrote it; `owner`: the process that owns the store. */
  take(commit: Commit, now: number, writer: string, owner: string): void {
    this.count++
    const { rows } = commit
    this.checkStates(commit)
    // The process that receives a document writes its content before the commit that creates the document.
    if (Object.keys(rows).join() === "documentContents") return
    if (this.isWorkerWrite(commit)) return this.workerWrite(rows.webhookDeliveries ?? [], writer)
    this.findings.expect(writer === owner, "writer", () => `${writer} wrote although ${owner} owns the store`)
    this.checkBarred(commit)
    this.checkExecution(commit)
    this.timers.take(commit, now)
    this.changes.take(commit)
    this.operator.take(commit, now)
    this.review.take(commit)
    this.screening.take(commit)
    this.statements.take(commit)
    for (const report of rows.collateralReports ?? []) this.checkReport(report, commit)
    this.money.take(commit)
    this.checkMoney(commit, now)
    this.checkItems(commit)
    this.checkDeliveries(commit)
    this.noteFeed(commit)
    this.events.push(...(rows.events ?? []))
    this.audit.push(...(rows.audit ?? []))
    for (const row of rows.clients ?? []) {
      this.restrictions.set(row.id, row.context.restrictions)
      this.clientPartners.set(row.id, row.partnerId)
    }
    for (const row of rows.partners ?? []) this.partners.set(row.id, row)
    for (const row of rows.webhookEndpoints ?? []) {
      if (row.state !== "ACTIVE") this.activeEndpoints.delete(row.partnerId)
      else if (!this.activeEndpoints.has(row.partnerId)) this.activeEndpoints.set(row.partnerId, row.updatedAt)
    }
  }

  private checkStates({ rows }: Commit): void {
    for (const [table, list] of Object.entries(rows)) {
      const kind = catalogue[table as TableName].machine
      if (kind === null) continue
      const declared = Object.keys(machines[kind].machine.states)
      for (const { state } of list as ReadonlyArray<{ readonly state: string }>) {
        this.coverage.note(kind, state)
        this.findings.expect(declared.includes(state), "states", () => `${table} in state ${state}`)
      }
    }
  }

  /** True for a commit of a delivery worker: it changes known deliveries only. */
  private isWorkerWrite({ rows, fence, claims }: Commit): boolean {
    const known = (rows.webhookDeliveries ?? []).every(({ id }) => this.deliveries.has(id))
    return fence === null && claims.length === 0 && known && Object.keys(rows).join() === "webhookDeliveries"
  }

  /**
   * A late 2xx settles a delivery even if another worker holds it by then, because the receiver has the delivery (D14).
   */
  private workerWrite(rows: ReadonlyArray<DeliveryRow>, writer: string): void {
    for (const row of rows) {
      const before = this.deliveries.get(row.id) as DeliveryRow
      const settles = row.claimToken === null
      const holder = (before.claimToken ?? "").split(":", 1)[0]
      this.findings.expect(before.state !== "SENT", "delivery-claim", () => `delivery ${row.id} changed after SENT`)
      this.findings.expect(
        !settles || holder === writer || row.state === "SENT",
        "delivery-claim",
        () => `delivery ${row.id} is settled by ${writer}, its claim is ${holder || "nobody"}'s`
      )
      this.findings.expect(row.body === before.body, "delivery-body", () => `delivery ${row.id} changed its body`)
      this.deliveries.set(row.id, row)
    }
  }

  private checkBarred({ rows }: Commit): void {
    for (const { role, partnerId, action } of rows.audit ?? []) {
      const barred = role === "PARTNER" && partnerId !== null && this.partners.get(partnerId)?.state === "SUSPENDED"
      this.findings.expect(!barred, "barred", () => `${action} for partner ${partnerId}, which is suspended`)
    }
  }

  private checkExecution({ rows }: Commit): void {
    const names = new Set((rows.answers ?? []).map(({ principal, key }) => `key ${principal} ${key}`))
    for (const { requestId, role, clientId } of rows.audit ?? []) {
      if (role !== "PARTNER" || !this.isKeyed(requestId)) continue
      // A bulk report has one commit for each of its clients.
      names.add(rows.bulkReportParts === undefined ? `request ${requestId}` : `request ${requestId} client ${clientId}`)
    }
    for (const name of names) {
      const times = (this.executions.get(name) ?? 0) + 1
      this.executions.set(name, times)
      this.findings.expect(times === 1, "one-execution", () => `${name} was executed ${times} times`)
    }
  }

  /** Checks a report against the cash and restrictions committed before it (doc 3, Collateral report rules). */
  private checkReport(row: CollateralReportRow, commit: Commit): void {
    const { direction, amount, refusal, partnerRef } = factsOf(row)
    const cash = this.cash.get(row.clientId)?.at(-1)?.cash ?? 0n
    const restricted = this.restrictions.get(row.clientId) ?? []
    const barred =
      restricted.includes("FROZEN") || (direction === "WITHDRAWAL" && restricted.includes("NO_WITHDRAWALS"))
    const free = cash - this.trading.tied(row.clientId)
    // While the account's value depends on a mark, a stale mark refuses withdrawals (F3).
    const stale = direction === "WITHDRAWAL" && row.state === "REFUSED" && this.trading.isExposed(row.clientId)
    const refused = barred || stale || (direction === "WITHDRAWAL" && minor(amount) > free)
    const say = () =>
      `report ${row.id}: ${direction} ${amount} on ${cash}, ${free} free${barred ? " (restricted)" : ""} is ${row.state}`
    const custody = this.partners.get(row.partnerId)?.custodyModel
    this.findings.expect(custody === "PARTNER", "custody", () => `${say()} under ${custody} custody`)
    this.findings.expect(row.state === (refused ? "REFUSED" : "BOOKED"), "rules", say)
    this.findings.expect((refusal !== null) === refused, "rules", say)
    const moved = (commit.rows.postings ?? [])
      .filter(({ clientId }) => clientId === row.clientId)
      .reduce((sum, posting) => sum + posting.amount, 0n)
    const due = refused ? 0n : direction === "DEPOSIT" ? minor(amount) : -minor(amount)
    this.findings.expect(moved === due, "rules", () => `report ${row.id} moves ${moved}, not ${due}`)
    for (const other of this.reports.values()) {
      const same = other.partnerId === row.partnerId && factsOf(other).partnerRef === partnerRef
      this.findings.expect(!same, "claims", () => `reports ${other.id} and ${row.id} have the same reference`)
    }
    this.reports.set(row.id, row)
  }

  private checkMoney({ rows }: Commit, now: number): void {
    const perTransaction = new Map<string, bigint>()
    const add = (sums: Map<string, bigint>, name: string, amount: bigint) =>
      sums.set(name, (sums.get(name) ?? 0n) + amount)
    for (const { txId, currency, clientId, kind, amount } of rows.postings ?? []) {
      add(perTransaction, `${txId} ${currency}`, amount)
      if (clientId !== null) add(this.sums, `${clientId} ${currency} ${kind}`, amount)
    }
    for (const [name, sum] of perTransaction) {
      this.findings.expect(sum === 0n, "double-entry", () => `transaction ${name} sums to ${sum}`)
    }
    const shown = new Set<number>()
    for (const { clientId, currency, cash, reserved } of rows.balances ?? []) {
      shown.add(clientId)
      const sumOf = (kind: string) => this.sums.get(`${clientId} ${currency} ${kind}`) ?? 0n
      this.findings.expect(
        cash === sumOf("cash") && reserved === sumOf("reserved"),
        "balances",
        () => `client ${clientId} has ${cash}, its postings sum to ${sumOf("cash")}`
      )
      if (currency !== "USDC") continue
      this.cash.set(clientId, [...(this.cash.get(clientId) ?? []), { at: now, cash }])
    }
    for (const { clientId } of rows.postings ?? []) {
      this.findings.expect(
        clientId === null || shown.has(clientId),
        "balances",
        () => `client ${clientId} has a posting and no balance row with it`
      )
    }
  }

  /** Balances of a partner's clients, by account. */
  private held(partnerId: number): ReadonlyArray<string> {
    return this.holdings((clientId) => this.clientPartners.get(clientId) === partnerId)
  }

  private holdings(isOwner: (clientId: number) => boolean): ReadonlyArray<string> {
    return [...this.sums].flatMap(([name, sum]) =>
      sum !== 0n && isOwner(Number(name.split(" ", 1)[0])) ? [`${name} is ${sum}`] : []
    )
  }

  private noteFeed({ rows }: Commit): void {
    this.notifications.push(...(rows.notifications ?? []))
    for (const [name, times] of this.forwarded) {
      this.findings.expect(times === 1, "feed", () => `${name} was forwarded ${times} times`)
    }
  }

  /** Notifications of ACTIVE endpoints that were not forwarded as deliveries. */
  unforwarded(): ReadonlyArray<NotificationRow> {
    return this.notifications.filter(({ id, partnerId, kind, ts }) => {
      // Kinds that partners only poll are not delivered (A2-64).
      if (polled.has(kind)) return false
      const from = this.activeEndpoints.get(partnerId)
      return from !== undefined && ts >= from && !this.forwarded.has(`feed:${id}`)
    })
  }

  private checkItems({ rows }: Commit): void {
    const fresh = (rows.settlementItems ?? []).filter(({ id }) => !this.items.has(id))
    for (const { id } of fresh) this.items.add(id)
    // Under BROKER custody the service holds the money, so a correction makes no settlement item.
    const amountOf = (txId: number) =>
      (rows.postings ?? []).find(
        (posting) => posting.txId === txId && posting.clientId !== null && posting.currency === "USDC"
      )?.amount
    const due = (rows.ledgerTransactions ?? []).filter(
      ({ txId, type, partnerId }) =>
        owing.has(type) && amountOf(txId) !== 0n && this.partners.get(partnerId)?.custodyModel === "PARTNER"
    )
    for (const { txId } of due) this.owed.add(txId)
    const same =
      fresh.length === due.length &&
      due.every(({ txId }) => fresh.some((item) => item.txId === txId && item.amount === amountOf(txId)))
    this.findings.expect(same, "settlement-item", () => `${due.length} postings that are owed, ${fresh.length} items`)
  }

  private checkDeliveries({ rows, claims }: Commit): void {
    const expected = (rows.events ?? [])
      // The event log holds transitions of machines, but no delivery carries them (EVT-2).
      .filter(({ partnerId, name }) => name !== "state.changed" && this.activeEndpoints.has(partnerId))
      .map(({ partnerId, name, data }) => `${partnerId} ${name} ${JSON.stringify(data)}`)
    const fresh = (rows.webhookDeliveries ?? []).filter(({ id }) => !this.deliveries.has(id))
    const found = fresh.flatMap(({ id, partnerId, event, body }) => {
      // A test delivery goes to the endpoint and is in no event log.
      if (event === "webhook.test" && this.activeEndpoints.has(partnerId)) return []
      const forwarded = claims.filter(({ name, owner }) => name.startsWith("feed:") && owner === id)
      if (forwarded.length > 0 && this.activeEndpoints.has(partnerId)) {
        for (const { name } of forwarded) this.forwarded.set(name, (this.forwarded.get(name) ?? 0) + 1)
        return []
      }
      const { data } = JSON.parse(body) as { readonly data: unknown }
      return [`${partnerId} ${event} ${JSON.stringify(data)}`]
    })
    for (const row of fresh) this.deliveries.set(row.id, row)
    const same = expected.toSorted().join() === found.toSorted().join()
    this.findings.expect(
      same,
      "delivery-rows",
      () => `events ${expected.join("; ")} but deliveries ${found.join("; ")}`
    )
  }
}
