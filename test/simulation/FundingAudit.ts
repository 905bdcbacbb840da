/**
 * What a simulation holds funding to (F14), with arithmetic of its own: the position at a stamp is what the venue's trades before
 * it in the account's sequence come to; it is posted once a client, market and stamp, and in the end to the micro-USDC.
 */
import type { AccountFact } from "../../src/machines/venue/VenueEvent.ts"
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"
import type { LedgerTransactionRow } from "../../src/runtime/tables/ledger.ts"
import type { Findings } from "./Findings.ts"
import { signed, units } from "./OrderAudit.ts"
import type { VenueLane } from "./VenueLane.ts"

export interface FundingAuditParts {
  readonly findings: Findings
  readonly store: MemoryStore
  readonly venue: VenueLane
}

type Funding = Extract<AccountFact, { readonly type: "funding" }>["funding"]

/** Places of a quantity, a mark and a rate, less those of money. */
const beyondMicro = 10n ** 8n

/** Micro-USDC that a quantity gets at a stamp, rounded down. */
const due = (lots: bigint, { mark, rate }: Funding): bigint => {
  const exact = -lots * units(mark ?? "0", 2) * units(rate ?? "0", 8)
  const whole = exact / beyondMicro
  return exact % beyondMicro < 0n ? whole - 1n : whole
}

export class FundingAudit {
  private readonly parts: FundingAuditParts
  private readonly accounts = new Map<number, string>()
  private readonly keys = new Set<string>()

  constructor(parts: FundingAuditParts) {
    this.parts = parts
  }

  /** Each posting names its client, a stamp that the venue has said of it, and nothing that is posted already. */
  take({ rows }: Commit): void {
    const { findings, venue } = this.parts
    for (const { id, uid } of rows.clients ?? []) this.accounts.set(id, uid)
    for (const { type, key, clientId, refs } of rows.ledgerTransactions ?? []) {
      if (type !== "FUNDING") continue
      const { symbol, settledAt } = refs
      const [, market, stamp, client, ...trade] = key.split(":")
      const isNamed = market === symbol && Number(stamp) === settledAt && Number(client) === clientId
      const said = venue.events.some(
        ({ fact }) =>
          fact.type === "funding" &&
          fact.account === this.accounts.get(clientId ?? 0) &&
          fact.funding.symbol === symbol &&
          fact.funding.settledAt === settledAt
      )
      findings.expect(
        isNamed && said && (trade.length === 0 || trade.length === 2) && !this.keys.has(key),
        "funding",
        () => `${key} is posted for client ${clientId} at ${String(symbol)} ${String(settledAt)}`
      )
      this.keys.add(key)
    }
  }

  /** Whether a stamp has left what it says: a posting, nothing that is due, or a row that keeps it open. */
  isApplied(fact: AccountFact): boolean | null {
    if (fact.type !== "funding") return null
    const { funding, account } = fact
    const clientId = [...this.accounts].find(([, uid]) => uid === account)?.[0]
    if (due(units(funding.netQty, 4), funding) === 0n) return true
    if (this.keys.has(`funding:${funding.symbol}:${funding.settledAt}:${clientId}`)) return true
    return this.parts.store
      .rows("openFundings")
      .some((row) => row.clientId === clientId && row.symbol === funding.symbol && row.settledAt === funding.settledAt)
  }

  /** Once everything has come to rest. `forgotten`: accounts of which the venue does not keep what it said. */
  checkEnd(forgotten: ReadonlySet<string>): void {
    const { findings, store, venue } = this.parts
    const paid = this.paid(store)
    const lots = new Map<string, bigint>()
    for (const { fact } of venue.events) {
      if (fact.type === "fill") {
        const name = `${fact.account} ${fact.fill.symbol}`
        lots.set(name, (lots.get(name) ?? 0n) + signed(fact.fill))
      }
      if (fact.type !== "funding" || fact.funding.mark === null || forgotten.has(fact.account)) continue
      const { symbol, settledAt } = fact.funding
      const name = `${fact.account} ${symbol} ${settledAt}`
      const [is, should] = [paid.get(name) ?? 0n, due(lots.get(`${fact.account} ${symbol}`) ?? 0n, fact.funding)]
      findings.expect(is === should, "funding", () => `${name} has paid ${is}, its position there makes ${should}`)
    }
    const open = store.rows("openFundings").filter(({ live, clientId }) => {
      return live && !forgotten.has(this.accounts.get(clientId) ?? "")
    })
    findings.expect(open.length === 0, "funding", () => `stamps are open: ${JSON.stringify(open)}`)
  }

  /** What is posted, by account, market and stamp. */
  private paid(store: MemoryStore): ReadonlyMap<string, bigint> {
    const stamps = new Map<number, string>()
    const nameOf = ({ clientId, refs }: LedgerTransactionRow): string =>
      `${this.accounts.get(clientId ?? 0)} ${String(refs["symbol"])} ${String(refs["settledAt"])}`
    for (const row of store.rows("ledgerTransactions")) if (row.type === "FUNDING") stamps.set(row.txId, nameOf(row))
    const sums = new Map<string, bigint>()
    for (const { txId, clientId, amount } of store.rows("postings")) {
      const name = stamps.get(txId)
      if (name !== undefined && clientId !== null) sums.set(name, (sums.get(name) ?? 0n) + amount)
    }
    return sums
  }
}
