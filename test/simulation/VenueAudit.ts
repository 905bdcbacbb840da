/**
 * Checks how the service processes the venue's messages (A2-26, A2-95, A2-96, A2-115). At each commit, an account's
 * events are applied in order and their facts are stored, and the cursor passes no event that is not applied. At the
 * end, service and venue agree on every ref.
 */
import { moneyApart, ownMoney, venueMoney } from "../../src/machines/reconciliation/money.ts"
import { refOfFact } from "../../src/machines/venue/VenueEvent.ts"
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"
import type { ContractAudit } from "./ContractAudit.ts"
import type { OrderAudit } from "./OrderAudit.ts"
import type { FundingAudit } from "./FundingAudit.ts"
import type { VenuePath } from "./Coverage.ts"
import type { Findings } from "./Findings.ts"
import type { SwapAudit } from "./SwapAudit.ts"
import type { AccountEvent, VenueLane } from "./VenueLane.ts"

export interface VenueAuditParts {
  readonly findings: Findings
  readonly store: MemoryStore
  readonly venue: VenueLane
  readonly contracts: ContractAudit
  readonly swaps: SwapAudit
  readonly orders: OrderAudit
  readonly funding: FundingAudit
  readonly took: (path: VenuePath) => void
}

export class VenueAudit {
  private readonly parts: VenueAuditParts
  /** The sequence of the last applied event of each account. */
  private readonly sequences = new Map<string, number>()
  private readonly accounts = new Map<number, string>()
  /** The names of all calls that commits have requested. */
  private readonly asked = new Set<string>()
  private cursor = 0
  /**
   * The event number at which the service continued after the venue had dropped events that the service had not read.
   */
  private wentOnFrom = 0

  constructor(parts: VenueAuditParts) {
    this.parts = parts
  }

  take({ rows }: Commit): void {
    const { took } = this.parts
    for (const { id, uid } of rows.clients ?? []) this.accounts.set(id, uid)
    for (const { ref } of rows.venueCalls ?? []) this.asked.add(ref)
    // An account that was just opened has no events yet.
    const taken = (rows.venueAccounts ?? []).filter((row) => row.sequence > 0)
    for (const { clientId, sequence } of taken) this.checkSequence(clientId, sequence)
    const ended = rows.venueProbes?.some(({ state }) => state === "EXECUTED") === true
    if (ended) took(taken.length > 0 ? "end known by an event" : "end known by an answer")
    if (rows.venueProbes?.some(({ state }) => state === "VOID") === true) took("call voided")
    for (const { number } of rows.venueCursor ?? []) this.checkCursor(number)
  }

  /**
   * Checks that a commit requested a call before it leaves a process. Accounts are opened before their first call,
   * under names of their own.
   */
  called(refs: ReadonlyArray<string>): void {
    for (const ref of refs) {
      const known = this.asked.has(ref) || isAccount(ref)
      this.parts.findings.expect(known, "venue", () => `${ref} is called, and no commit asked for it`)
    }
  }

  /**
   * Checks that events of an account are applied once and in order, several in one commit as well, and that their facts
   * are stored. Only events that the venue no longer keeps may be skipped.
   */
  private checkSequence(clientId: number, sequence: number): void {
    const { findings, took, venue } = this.parts
    const account = this.accounts.get(clientId) ?? ""
    const before = this.sequences.get(account) ?? 0
    findings.expect(sequence > before, "venue", () => `client ${clientId} takes event ${sequence} after ${before}`)
    const passed = venue.events.filter(
      ({ fact }) => fact.account === account && fact.sequence > before && fact.sequence <= sequence
    )
    if (passed.some(({ fact, number }) => fact.sequence < sequence && !venue.core.keeps(number))) took("gap passed")
    if (passed.length > 1) took("events folded")
    const due = this.missing().filter(({ fact }) => fact.account === account && fact.sequence <= sequence)
    const lost = due.filter((event) => !this.isApplied(event))
    findings.expect(
      lost.length === 0,
      "venue",
      () =>
        `client ${clientId} goes from event ${before} to ${sequence}, and ${lost.map(({ fact }) => fact.sequence).join(", ")} left nothing`
    )
    this.sequences.set(account, sequence)
  }

  /** True if the store has the facts of an event, or the event is quarantined. */
  private isApplied({ fact, number }: AccountEvent): boolean {
    const { contracts, orders, funding, store, swaps, venue } = this.parts
    const applied =
      contracts.isApplied(fact) ?? orders.isApplied(fact) ?? funding.isApplied(fact) ?? swaps.isApplied(fact)
    const isAside = (): boolean => store.rows("venueQuarantine").some((row) => row.number === number)
    // A read of the object recovers the facts behind a quarantined lie, as the end of the run shows.
    if (applied !== null) return applied || (venue.lied.has(number) && isAside())
    const ref = refOfFact(fact)
    const probe = store.rows("venueProbes").find(({ id }) => `P-${id}` === ref)
    if (probe?.state === "EXECUTED" || venue.spoiled.has(number)) return true
    return isAside()
  }

  /** Checks that a reader that starts at the cursor misses no event that the venue still keeps. */
  private checkCursor(number: number): void {
    const { findings, venue } = this.parts
    findings.expect(
      number <= venue.core.number,
      "venue",
      () => `the cursor is at ${number}, the venue has no such event`
    )
    if (number > this.cursor && !venue.core.keeps(this.cursor + 1)) this.wentOnFrom = number
    this.cursor = Math.max(this.cursor, number)
    const left = this.missing().filter((event) => event.number <= number)
    findings.expect(
      left.length === 0,
      "venue",
      () => `the cursor passes to ${number}, and event ${left.map((event) => event.number).join(", ")} is not taken`
    )
  }

  /**
   * Kept events that the service should have applied and has not. Dropped events of an account without any applied
   * event are read only with the next event of that account.
   */
  private missing(): ReadonlyArray<AccountEvent> {
    const { core, events } = this.parts.venue
    return events.filter(({ fact: { account, sequence, type }, number }) => {
      // The service receives a quote without a turn, and reads it again after a restart.
      if (type === "quote") return false
      const taken = this.sequences.get(account)
      if (sequence <= (taken ?? 0)) return false
      return core.keeps(number) && (taken !== undefined || number > this.wentOnFrom)
    })
  }

  /** True if the service has applied all events of the venue. */
  get caughtUp(): boolean {
    const { store, venue } = this.parts
    const [cursor] = store.rows("venueCursor")
    return (cursor?.number ?? 0) === venue.core.number && this.missing().length === 0
  }

  /** Checks at the end of a run, when no work is left. */
  checkEnd(): void {
    const { contracts, findings, store, swaps, venue } = this.parts
    const probes = store.rows("venueProbes")
    const outcomes = venue.core.lookup(probes.map(({ id }) => `P-${id}`))
    for (const [at, { id, state }] of probes.entries()) {
      const ref = `P-${id}`
      const executed = venue.core.executions(ref)
      findings.expect(
        executed === (state === "EXECUTED" ? 1 : 0),
        "venue",
        () => `${ref} is ${state}, and was executed ${executed} times`
      )
      const there = outcomes[at]?.outcome
      findings.expect(there === state, "venue", () => `${ref} is ${state} here and ${there} at the venue`)
    }
    for (const [ref, came] of venue.core.came) {
      findings.expect(came <= 1 || isAccount(ref), "venue", () => `${ref} was called ${came} times`)
    }
    const forgotten = new Set<string>()
    const unheard = new Set<number>()
    for (const { fact, number } of venue.events) {
      if (venue.core.keeps(number) || this.isApplied({ fact, number, at: 0 })) continue
      contracts.forgotten(fact)
      forgotten.add(fact.account)
      if (fact.type === "swap") unheard.add(fact.swap.id)
    }
    contracts.checkEnd()
    swaps.checkEnd(({ id }) => unheard.has(id))
    this.parts.funding.checkEnd(forgotten)
    this.checkMoney(forgotten)
    findings.expect(store.rows("venueCalls").length === 0, "venue", () => "calls are left in flight")
    findings.expect(this.caughtUp, "venue", () => `of ${venue.core.number} events ${this.behind()}`)
    // A quarantined row without an event number is a loss of events, or an answer that does not fit.
    for (const { number, reason } of store.rows("venueQuarantine")) {
      findings.expect(
        number === null ? venue.forgot || venue.misled : venue.spoiled.has(number),
        "venue",
        () => `event ${number} is set aside (${reason}), and nothing was wrong with it`
      )
    }
  }

  /**
   * Checks that the venue's house account has the same balance for each client as the venue's own books (A2-103),
   * except for accounts with dropped events.
   */
  private checkMoney(forgotten: ReadonlySet<string>): void {
    const { findings, store, venue } = this.parts
    const balances = Map.groupBy(store.rows("balances"), ({ clientId }) => clientId)
    const totals = new Map(store.rows("accountTotals").map((row) => [row.clientId, row]))
    for (const [clientId, uid] of this.accounts) {
      if (forgotten.has(uid)) continue
      const account = venue.core.account(uid)
      const ours = ownMoney({ balances: balances.get(clientId) ?? [], totals: totals.get(clientId) })
      const theirs = account === null ? new Map<string, never>() : venueMoney(account)
      for (const { asset, ours: here, theirs: there } of moneyApart(ours, theirs ?? new Map()))
        findings.add("venue", `the ledger has ${here.toFixed()} ${asset} of ${uid}, the venue ${there.toFixed()}`)
    }
  }

  /** The position of the cursor and the events beyond it, for the trace. */
  behind(): string {
    const [cursor] = this.parts.store.rows("venueCursor")
    const numbers = this.missing().map(({ number }) => number)
    return `the cursor has ${cursor?.number ?? 0}, not taken: ${numbers.join(", ") || "none"}`
  }
}

/** True for the name of a call that opens an account. */
const isAccount = (ref: string): boolean => ref.startsWith("U-")
