/**
 * Checks funding with its own arithmetic (F14): the position at a stamp is the sum of the venue's trades before the
 * stamp in the account's sequence, each client, market and stamp has one posting, and at the end the postings are exact
 * to the micro-USDC.
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

/** The scale of the product of quantity, mark and rate beyond micro-USDC: the sum of their decimal places less 6. */
const beyondMicro = 10n ** 8n

/** The funding of a quantity at a stamp, micro-USDC, rounded down. */
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

  /**
   * Checks that each posting names its client, a stamp that the venue reported for it, and no stamp that is already
   * posted.
   */
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

  /**
   * True if the store reflects a stamp: a posting, an amount of zero, or a row of open funding. Null for a fact of
   * another kind.
   */
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

  /** Checks at the end of a run, when no work is left. `forgotten`: accounts whose events the venue no longer keeps. */
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

  /** The funding postings by account, market and stamp. */
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
