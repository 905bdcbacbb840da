/** The checks of the store at the end of a run, when no work is left. */
import type { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"
import { chainBreak } from "../runtime/engine/chain.ts"
import type { Auditor } from "./Auditor.ts"
import { factsOf } from "./CommitAudit.ts"
import type { VenueAudit } from "./VenueAudit.ts"

export const finalChecks = (auditor: Auditor, store: MemoryStore, venue: VenueAudit): void => {
  auditor.checkAcknowledged()
  checkEvents(auditor, store)
  checkBalances(auditor, store)
  checkClaims(auditor, store)
  checkItems(auditor, store)
  checkFeed(auditor)
  auditor.commits.screening.checkFound()
  checkDeliveries(auditor, store)
  venue.checkEnd()
  // Last, because any change of the rows breaks the chain as well.
  checkAuditChain(auditor, store)
}

const checkEvents = ({ findings, commits }: Auditor, store: MemoryStore): void => {
  const stored = store.rows("events")
  for (const [partnerId, written] of Map.groupBy(commits.events, (event) => event.partnerId)) {
    const found = stored.filter((event) => event.partnerId === partnerId)
    const same =
      found.length === written.length &&
      written.every((event, index) => {
        const row = found[index]
        return (
          row?.seq === index + 1 && row.name === event.name && JSON.stringify(row.data) === JSON.stringify(event.data)
        )
      })
    findings.expect(same, "events", () => `partner ${partnerId}: ${found.length} of ${written.length} events in order`)
  }
}

const checkAuditChain = ({ findings, commits }: Auditor, store: MemoryStore): void => {
  const rows = store.rows("audit")
  const broken = chainBreak((table) => store.rows(table))
  if (broken !== null) return findings.add("audit-chain", broken)
  for (const [index, row] of rows.entries()) {
    if (row.id !== commits.audit[index]?.id) return findings.add("audit-chain", `audit row ${row.id} was not committed`)
  }
  findings.expect(rows.length === commits.audit.length, "audit-chain", () => `${rows.length} audit rows are left`)
}

const checkBalances = ({ findings }: Auditor, store: MemoryStore): void => {
  const sums = new Map<string, bigint>()
  const perTransaction = new Map<string, bigint>()
  for (const { txId, clientId, currency, kind, amount } of store.rows("postings")) {
    const transaction = `${txId} ${currency}`
    perTransaction.set(transaction, (perTransaction.get(transaction) ?? 0n) + amount)
    if (clientId === null) continue
    const name = `${clientId} ${currency} ${kind}`
    sums.set(name, (sums.get(name) ?? 0n) + amount)
  }
  for (const [name, sum] of perTransaction) findings.expect(sum === 0n, "double-entry", () => `${name} sums to ${sum}`)
  for (const { clientId, currency, cash, reserved } of store.rows("balances")) {
    for (const [kind, held] of [
      ["cash", cash],
      ["reserved", reserved]
    ] as const) {
      const name = `${clientId} ${currency} ${kind}`
      const sum = sums.get(name) ?? 0n
      sums.delete(name)
      findings.expect(held === sum, "balances", () => `${name} is ${held}, its postings sum to ${sum}`)
    }
  }
  findings.expect(sums.size === 0, "balances", () => `postings without a balance: ${[...sums.keys()].join(", ")}`)
}

const checkClaims = ({ findings }: Auditor, store: MemoryStore): void => {
  const held = (name: string, id: number) =>
    findings.expect(store.ownerOf(name) === id, "claims", () => `${name} belongs to ${store.ownerOf(name)}, not ${id}`)
  for (const row of store.rows("collateralReports"))
    held(`collateral:${row.partnerId}:${factsOf(row).partnerRef}`, row.id)
  for (const row of store.rows("clients")) {
    held(`ref:${row.partnerId}:${row.partnerClientRef}`, row.id)
    // A closed account has released its e-mail.
    if (row.state !== "CLOSED") held(`email:${row.email}`, row.id)
  }
}

const checkItems = ({ findings, commits }: Auditor, store: MemoryStore): void => {
  const items = store.rows("settlementItems").map(({ txId, amount }) => `${txId} ${amount}`)
  const due = store
    .rows("postings")
    .flatMap(({ txId, clientId, currency, amount }) =>
      clientId !== null && currency === "USDC" && commits.owed.has(txId) ? [`${txId} ${amount}`] : []
    )
  const same = items.toSorted().join() === due.toSorted().join()
  findings.expect(same, "settlement-item", () => `items ${items.join(", ")}; postings ${due.join(", ")}`)
}

const checkFeed = ({ findings, commits }: Auditor): void => {
  const left = commits.unforwarded().map(({ id, partnerId, ts }) => `${id} of partner ${partnerId} from ${ts}`)
  findings.expect(left.length === 0, "feed", () => `never forwarded: notification ${left.join(", ")}`)
}

const checkDeliveries = ({ findings, arrivals }: Auditor, store: MemoryStore): void => {
  const endpoints = new Map(store.rows("webhookEndpoints").map((row) => [row.partnerId, row.state]))
  const acknowledged = new Set(arrivals.flatMap(({ deliveryId, answered }) => (answered < 300 ? [deliveryId] : [])))
  for (const { id, partnerId, state } of store.rows("webhookDeliveries")) {
    if (state === "SENT") {
      findings.expect(
        acknowledged.has(id),
        "delivered",
        () => `delivery ${id} is SENT, no receiver has acknowledged it`
      )
    } else {
      findings.expect(endpoints.get(partnerId) !== "ACTIVE", "delivered", () => `delivery ${id} is ${state} in the end`)
    }
  }
}
