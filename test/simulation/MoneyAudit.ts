/**
 * Checks money under BROKER custody: the steps of deposit notices and withdrawal requests, and the money that each step
 * moves (doc 3, Deposit notice, Withdrawal request, Money write gates; D9, D10).
 */
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { DepositNoticeRow } from "../../src/runtime/tables/deposit.ts"
import type { LedgerTransactionRow } from "../../src/runtime/tables/ledger.ts"
import type { WithdrawalRow } from "../../src/runtime/tables/withdrawal.ts"
import type { Findings } from "./Findings.ts"

/** Facts from before a commit, recorded by the auditor of commits. */
export interface MoneyFacts {
  /** Cash that contracts do not hold. */
  readonly free: (clientId: number) => bigint
  readonly restrictions: (clientId: number) => ReadonlyArray<string>
  readonly custody: (partnerId: number) => "BROKER" | "PARTNER" | undefined
}

type Request = DepositNoticeRow | WithdrawalRow
type Kind = "deposits" | "withdrawals"

/**
 * The change of cash and of the reserve in a step, as multiples of the request's amount. A sandbox takes several steps
 * in one commit.
 */
const steps: { readonly [K in Kind]: Readonly<Record<string, readonly [cash: bigint, reserved: bigint]>> } = {
  deposits: {
    "- PENDING": [0n, 0n],
    "- CONFIRMED": [1n, 0n],
    "PENDING CONFIRMED": [1n, 0n],
    "PENDING REJECTED": [0n, 0n]
  },
  withdrawals: {
    "- REQUESTED": [-1n, 1n],
    "- PAID": [-1n, 0n],
    "REQUESTED APPROVED": [0n, -1n],
    "REQUESTED REJECTED": [1n, -1n],
    "REQUESTED CANCELLED": [1n, -1n],
    "APPROVED PAID": [0n, 0n],
    "APPROVED REJECTED": [1n, 0n]
  }
}

/** The kind of request that books a transaction of this type. Other transactions have rules of their own. */
const kindOf: Readonly<Record<string, Kind>> = {
  DEPOSIT: "deposits",
  WITHDRAWAL_RESERVE: "withdrawals",
  WITHDRAWAL: "withdrawals",
  WITHDRAWAL_RELEASE: "withdrawals"
}

/** True for a payout to a client that cannot request it: it is booked as a withdrawal without a request. */
const isPayout = ({ refs }: LedgerTransactionRow): boolean => "payoutId" in refs

export class MoneyAudit {
  private readonly findings: Findings
  private readonly facts: MoneyFacts
  /** The states of each request, oldest first, and its present row. */
  private readonly known = { deposits: new Map<number, Known>(), withdrawals: new Map<number, Known>() }
  /** Requests by partner and reference. */
  private readonly references = new Map<string, number>()

  constructor(findings: Findings, facts: MoneyFacts) {
    this.findings = findings
    this.facts = facts
  }

  /** Checks a commit before its other rows are recorded. */
  take({ rows }: Commit): void {
    const due = { deposits: new Moves(), withdrawals: new Moves() }
    for (const row of rows.depositNotices ?? []) this.step("deposits", row, due.deposits)
    for (const row of rows.withdrawalRequests ?? []) this.step("withdrawals", row, due.withdrawals)
    const booked = { deposits: new Moves(), withdrawals: new Moves() }
    const kinds = new Map<number, Kind>()
    for (const transaction of rows.ledgerTransactions ?? []) {
      const kind = kindOf[transaction.type]
      if (kind !== undefined && !isPayout(transaction)) kinds.set(transaction.txId, kind)
    }
    for (const { txId, clientId, currency, kind, amount } of rows.postings ?? []) {
      const entry = kinds.get(txId)
      if (entry !== undefined && clientId !== null) booked[entry].add(`${clientId} ${currency} ${kind}`, amount)
    }
    for (const kind of ["deposits", "withdrawals"] as const) {
      const [is, should] = [booked[kind].text, due[kind].text]
      this.findings.expect(
        is === should,
        kind,
        () => `booked ${is || "nothing"}, the steps move ${should || "nothing"}`
      )
    }
  }

  /** True if the request had this state under this reference at some time. */
  wasSo(kind: Kind, id: number, partnerRef: string, state: string): boolean {
    const known = this.known[kind].get(id)
    return known !== undefined && known.states.includes(state) && known.row.context.partnerRef === partnerRef
  }

  /** The partner's requests that wait for a decision. */
  open(partnerId: number): ReadonlyArray<string> {
    const open = ["PENDING", "REQUESTED", "APPROVED"]
    return [...this.known.deposits.values(), ...this.known.withdrawals.values()].flatMap(({ row }) =>
      row.partnerId === partnerId && open.includes(row.state) ? [`request ${row.id} is ${row.state}`] : []
    )
  }

  private step(kind: Kind, row: Request, due: Moves): void {
    const before = this.known[kind].get(row.id)
    const name = `${before?.states.at(-1) ?? "-"} ${row.state}`
    const moved = steps[kind][name]
    const text = () => `${kind} ${row.id} of client ${row.clientId}: ${name}, ${row.amount} ${row.currency}`
    this.findings.expect(moved !== undefined, kind, text)
    const [cash, reserved] = moved ?? [0n, 0n]
    due.add(`${row.clientId} ${row.currency} cash`, cash * row.amount)
    due.add(`${row.clientId} ${row.currency} reserved`, reserved * row.amount)
    if (before === undefined) this.checkFiling(kind, row, text)
    else this.findings.expect(row.amount === before.row.amount && row.clientId === before.row.clientId, kind, text)
    // A step that takes money in or pays it out checks the restrictions again.
    const passes = before === undefined || row.state === "CONFIRMED" || row.state === "APPROVED"
    const barred = kind === "deposits" ? ["FROZEN"] : ["FROZEN", "NO_WITHDRAWALS"]
    const restricted = this.facts.restrictions(row.clientId).some((each) => barred.includes(each))
    this.findings.expect(!passes || !restricted, kind, () => `${text()} although the client is restricted`)
    this.known[kind].set(row.id, { row, states: [...(before?.states ?? []), row.state] })
  }

  private checkFiling(kind: Kind, row: Request, text: () => string): void {
    const { partnerId, clientId, amount } = row
    const { partnerRef } = row.context
    const reference = `${kind} ${partnerId} ${partnerRef}`
    const other = this.references.get(reference)
    this.findings.expect(other === undefined, "claims", () => `${other} and ${row.id} have the same reference`)
    this.references.set(reference, row.id)
    const covered = kind === "deposits" || amount <= this.facts.free(clientId)
    this.findings.expect(covered, kind, () => `${text()} on ${this.facts.free(clientId)}`)
    const custody = this.facts.custody(partnerId)
    this.findings.expect(custody === "BROKER", "custody", () => `${text()} under ${custody} custody`)
  }
}

interface Known {
  readonly row: Request
  readonly states: ReadonlyArray<string>
}

/** Sums by client, currency and kind. */
class Moves {
  private readonly sums = new Map<string, bigint>()

  add(name: string, amount: bigint): void {
    this.sums.set(name, (this.sums.get(name) ?? 0n) + amount)
  }

  /** The sums that are not zero, in the order of their names. */
  get text(): string {
    const moved = [...this.sums].filter(([, amount]) => amount !== 0n)
    return moved
      .map(([name, amount]) => `${name} ${amount}`)
      .toSorted()
      .join(", ")
  }
}
