/**
 * Checks requests for quotes and knock-out contracts at each commit and at the end (D4, D5, F12, F15 to F18). An accept
 * takes an acceptable quote at its price with enough money, and ends only by an outcome of the venue. Each contract of
 * the venue has one row with its terms, one commission and one settlement. The sums are computed in whole numbers from
 * the venue's reports, and share only the rows with the service.
 */
import { acceptRef, requestRef } from "../../src/machines/rfq/Rfq.ts"
import type { VenueContract } from "../../src/machines/venue/venueObjects.ts"
import type { AccountFact } from "../../src/machines/venue/VenueEvent.ts"
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { ContractRow } from "../../src/runtime/tables/contract.ts"
import type { RfqRow } from "../../src/runtime/tables/rfq.ts"
import type { Findings } from "./Findings.ts"
import type { VenueLane } from "./VenueLane.ts"

export interface ContractAuditParts {
  readonly findings: Findings
  readonly venue: VenueLane
  readonly stepped: (kind: "rfq" | "barrierContract", before: string, after: string) => void
  /** A client's committed cash, micro-USDC. */
  readonly cash: (clientId: number) => bigint
  readonly holdsPositions: (clientId: number) => boolean
}

/** The commission for opening a contract, basis points of its notional (F12). */
const commissionBps = 2n
const whole = 10_000n

export class ContractAudit {
  /** Committed rows by id. */
  readonly rfqs = new Map<number, RfqRow>()
  readonly contracts = new Map<number, ContractRow>()
  /** Names of calls that are in flight. */
  readonly calls = new Set<string>()
  private readonly parts: ContractAuditParts
  private readonly ofVenue = new Map<number, number>()
  private readonly ofRfq = new Map<number, number>()
  /** Requests and contracts that staff resolved in place of the venue. */
  private readonly resolved = new Set<string>()
  /** The number of commissions and settlements booked for each contract. */
  private readonly booked = new Map<string, number>()
  /** Contracts whose last event the venue dropped before the service could read it. */
  private readonly unheard = new Set<number>()

  constructor(parts: ContractAuditParts) {
    this.parts = parts
  }

  /** A client's committed cash, micro-USDC. */
  cash(clientId: number): bigint {
    return this.parts.cash(clientId)
  }

  /** Records a commit. The cash of its clients must be recorded before. */
  take({ rows, endedCalls }: Commit): void {
    for (const { ref } of rows.venueCalls ?? []) this.calls.add(ref)
    for (const ref of endedCalls) this.calls.delete(ref)
    for (const { action, object } of rows.audit ?? []) {
      if (action === "venue.resolve" && object !== null) this.resolved.add(object)
    }
    for (const row of rows.barrierContracts ?? []) this.takeContract(row, rows)
    for (const row of rows.rfqs ?? []) this.takeRfq(row)
  }

  /** The part of a client's cash that contracts and accepts hold, at any mark (F16). */
  tied(clientId: number, except?: number): bigint {
    let tied = 0n
    for (const row of this.contracts.values()) if (row.clientId === clientId && row.state === "OPEN") tied += row.amount
    for (const { id, clientId: owner, state, context } of this.rfqs.values()) {
      const { accepting } = context
      if (owner !== clientId || id === except || accepting === null || state !== "OPEN") continue
      tied += micro(accepting.premium) + micro(accepting.commission)
    }
    return tied
  }

  /** True if the account's value depends on a mark. */
  isExposed(clientId: number): boolean {
    return [...this.contracts.values()].some((row) => row.clientId === clientId && row.state === "OPEN")
  }

  /** Records an event of the venue that the service can no longer read. */
  forgotten(fact: AccountFact): void {
    if (fact.type === "contract") this.unheard.add(fact.contract.id)
  }

  /** True if the rows contain a fact of the venue; null for a fact of another kind. */
  isApplied(fact: AccountFact): boolean | null {
    if (fact.type === "rfq") {
      const row = this.rfqs.get(Number(fact.rfq.ref.split("-")[1]))
      return row !== undefined && (!isOpen(row) || row.context.venueRfqId === fact.rfq.id)
    }
    if (fact.type !== "contract") return null
    const row = this.rowOf(fact.contract.id)
    return row !== undefined && (fact.contract.state === "OPEN" || row.state !== "OPEN")
  }

  /** Checks at the end of a run, when no work is left. */
  checkEnd(): void {
    const { findings, venue } = this.parts
    for (const contract of venue.desk.contracts.values()) {
      const row = this.rowOf(contract.id)
      const known =
        row?.state === contract.state || (row !== undefined && this.resolved.has(`barrierContract:${row.id}`))
      findings.expect(
        known || this.unheard.has(contract.id),
        "contracts",
        () => `the venue's contract ${contract.id} is ${contract.state} there and ${row?.state ?? "nowhere"} here`
      )
    }
    for (const { id, state, context } of this.rfqs.values()) {
      const { accepting, cancelling } = context
      findings.expect(!["CREATING", "OPEN"].includes(state), "accepts", () => `request ${id} is ${state} in the end`)
      findings.expect(
        accepting === null && cancelling === null,
        "accepts",
        () =>
          `request ${id} is ${state}, and something of it is in flight: ${JSON.stringify({ accepting, cancelling })}`
      )
    }
    for (const { ref, state } of venue.desk.requests.values()) {
      findings.expect(state !== "OPEN", "contracts", () => `the venue has ${ref} open`)
    }
  }

  private rowOf(venueContractId: number): ContractRow | undefined {
    return this.contracts.get(this.ofVenue.get(venueContractId) ?? 0)
  }

  private takeRfq(row: RfqRow): void {
    const before = this.rfqs.get(row.id)
    const { accepting } = row.context
    const was = before?.context.accepting ?? null
    if (accepting !== null && was?.quoteId !== accepting.quoteId) this.checkAccept(row)
    if (was !== null && accepting?.quoteId !== was.quoteId) this.checkReleased(row, was.quoteId)
    this.rfqs.set(row.id, row)
    if (before !== undefined && before.state !== row.state) this.parts.stepped("rfq", before.state, row.state)
    const { findings } = this.parts
    findings.expect(
      before?.state !== "ACCEPTED",
      "contracts",
      () => `request ${row.id} is written after its accept was executed`
    )
    findings.expect(
      accepting === null || this.calls.has(acceptRef(row.id, accepting.quoteId)),
      "accepts",
      () => `request ${row.id} holds money for quote ${accepting?.quoteId}, and no accept is in flight`
    )
    if (row.state !== "ACCEPTED" || row.closeContractId !== null) return
    const contract = this.contracts.get(row.context.contractId ?? 0)
    findings.expect(contract?.rfqId === row.id, "contracts", () => `request ${row.id} is ACCEPTED without its contract`)
  }

  /** Checks that an accept takes an acceptable quote, at its price, with enough money (F18). */
  private checkAccept(row: RfqRow): void {
    const { findings, venue } = this.parts
    const { accepting, qty, side, barrierLevel, takeProfit, premiumBudget, premiumBps } = row.context
    if (accepting === null) return
    const said = venue.desk.quotes.get(accepting.quoteId)
    const say = (what: string) => (): string => `request ${row.id} accepts quote ${accepting.quoteId}: ${what}`
    if (said?.rfqRef !== requestRef(row.id)) return findings.add("accepts", say("it has no such quote")())
    const { quote } = said
    const { at, price } = accepting
    findings.expect(quote.validUntil > at, "accepts", say(`valid until ${quote.validUntil}, accepted at ${at}`))
    findings.expect(units(quote.price, 2) === units(price, 2), "accepts", say(`at ${price} instead of ${quote.price}`))
    findings.expect(units(quote.qty, 4) >= units(qty, 4), "accepts", say(`${quote.qty} of ${qty}`))
    if (row.closeContractId !== null) return
    const cost = costOf({ qty, entry: price, barrier: barrierLevel, premiumBps })
    const named = { premium: micro(accepting.premium), commission: micro(accepting.commission) }
    findings.expect(
      cost.premium === named.premium && cost.commission === named.commission,
      "accepts",
      say(`holds ${named.premium} and ${named.commission}, not ${cost.premium} and ${cost.commission}`)
    )
    const sign = side === "BUY" ? 1n : -1n
    const beyond = (level: string): bigint => (units(price, 2) - units(level, 2)) * sign
    findings.expect(beyond(barrierLevel) > 0n, "accepts", say(`${price} is at the barrier ${barrierLevel}`))
    findings.expect(
      takeProfit === null || beyond(takeProfit) < 0n,
      "accepts",
      say(`${price} is at the take profit ${takeProfit}`)
    )
    const budget = premiumBudget === null ? null : micro(premiumBudget)
    findings.expect(budget === null || cost.premium <= budget, "accepts", say(`over the budget ${budget}`))
    const free = this.parts.cash(row.clientId) - this.tied(row.clientId, row.id)
    // Gains of positions count as margin too (F18). MarginAudit checks the margin that positions hold.
    if (this.parts.holdsPositions(row.clientId)) return
    findings.expect(cost.premium + cost.commission <= free, "accepts", say(`costs more than the ${free} that is free`))
  }

  /** Without an answer the hold stays: a released accept was refused or is void at the venue, or staff resolved it. */
  private checkReleased(row: RfqRow, quoteId: number): void {
    if (row.state === "ACCEPTED" || this.resolved.has(`rfq:${row.id}`)) return
    const ref = acceptRef(row.id, quoteId)
    const [outcome] = this.parts.venue.core.lookup([ref])
    this.parts.findings.expect(
      outcome?.outcome === "REFUSED" || outcome?.outcome === "VOID",
      "accepts",
      () => `the hold of ${ref} is freed, and at the venue it is ${outcome?.outcome}`
    )
  }

  private takeContract(row: ContractRow, rows: Commit["rows"]): void {
    const { findings, venue } = this.parts
    const { id, context } = row
    const before = this.contracts.get(id)
    const there = venue.desk.contracts.get(context.venueContractId)
    const isResolved = this.resolved.has(`barrierContract:${id}`) || this.resolved.has(`rfq:${row.rfqId}`)
    const say = (what: string) => (): string => `contract ${id}: ${what}`
    findings.expect(before === undefined || before.state === "OPEN", "contracts", say("it is written after its end"))
    findings.expect(there !== undefined || isResolved, "contracts", say("the venue has none"))
    if (before === undefined) this.checkOpening(row, there)
    else if (before.state !== row.state) this.parts.stepped("barrierContract", before.state, row.state)
    if (before !== undefined)
      findings.expect(frozen(before) === frozen(row), "contracts", say("its terms have changed"))
    if (there !== undefined && row.state !== "OPEN" && !isResolved) {
      const { state, settlePrice, endedAt } = there
      const same = state === row.state && endedAt === row.closedAt && sameUnits(settlePrice, context.settlePrice, 2)
      findings.expect(
        same,
        "contracts",
        say(`${row.state} at ${context.settlePrice}, ${state} at ${settlePrice} there`)
      )
    }
    this.contracts.set(id, row)
    this.checkMoney(row, before === undefined, rows)
  }

  private checkOpening(row: ContractRow, there: VenueContract | undefined): void {
    const { findings } = this.parts
    const { id, rfqId, context } = row
    const say = (what: string) => (): string => `contract ${id}: ${what}`
    findings.expect(!this.ofRfq.has(rfqId), "contracts", say(`${this.ofRfq.get(rfqId)} is of request ${rfqId}, too`))
    this.ofRfq.set(rfqId, id)
    if (there === undefined) return
    const other = this.ofVenue.get(there.id)
    findings.expect(other === undefined, "contracts", say(`${other} is the venue's ${there.id}, too`))
    this.ofVenue.set(there.id, id)
    const same =
      there.ref === acceptRef(rfqId, context.quoteId) &&
      there.side === context.side &&
      there.expiryAt === context.expiryTs &&
      there.strict === context.strict &&
      there.premiumBps === context.premiumBps &&
      sameUnits(there.qty, context.qty, 4) &&
      sameUnits(there.entry, context.entry, 2) &&
      sameUnits(there.barrier, context.barrier, 2) &&
      sameUnits(there.takeProfit, context.takeProfit, 2)
    findings.expect(same, "contracts", say(`${JSON.stringify(context)} is not ${JSON.stringify(there)}`))
    const cost = costOf(context)
    const kept = { premium: row.amount, commission: row.commission }
    findings.expect(
      cost.premium === kept.premium && cost.commission === kept.commission,
      "contracts",
      say(`costs ${kept.premium} and ${kept.commission}, not ${cost.premium} and ${cost.commission}`)
    )
  }

  /**
   * Books one commission at the opening and one settlement at the end, in the commit of the state change. The loss is
   * at most the premium.
   */
  private checkMoney(row: ContractRow, isNew: boolean, rows: Commit["rows"]): void {
    const { findings } = this.parts
    const due = { COMMISSION: isNew ? -row.commission : null, BARRIER_SETTLE: settled(row) }
    for (const type of ["COMMISSION", "BARRIER_SETTLE"] as const) {
      const name = `${type} of contract ${row.id}`
      const own = (rows.ledgerTransactions ?? []).filter((each) => each.type === type && refersTo(each.refs, row.id))
      const times = (this.booked.get(name) ?? 0) + own.length
      this.booked.set(name, times)
      const should = due[type] === null ? 0 : 1
      findings.expect(
        own.length === should && times <= 1,
        "contracts",
        () => `${name}: ${own.length} now, ${times} in all`
      )
      const legs = (rows.postings ?? []).filter(
        ({ txId, clientId }) => clientId !== null && own.some((each) => each.txId === txId)
      )
      const moved = legs.reduce((sum, { amount }) => sum + amount, 0n)
      findings.expect(moved === (due[type] ?? 0n), "contracts", () => `${name}: ${moved}, not ${due[type] ?? 0n}`)
    }
  }
}

const isOpen = ({ state }: RfqRow): boolean => state === "CREATING" || state === "OPEN"

/** The `contractId` of a swap's postings is the venue's id of that swap. */
const refersTo = (refs: object, contractId: number): boolean =>
  "contractId" in refs && refs.contractId === contractId && !("swapId" in refs)

/** A decimal as whole units of the given decimal places. */
const units = (text: string, places: number): bigint => {
  const [before = "0", after = ""] = text.split(".")
  return BigInt(before) * 10n ** BigInt(places) + BigInt(after.padEnd(places, "0").slice(0, places) || "0")
}
const sameUnits = (one: string | null, other: string | null, places: number): boolean =>
  one === null || other === null ? one === other : units(one, places) === units(other, places)
const micro = (amount: string): bigint => units(amount, 6)

const ceil = (numerator: bigint): bigint => (numerator + whole - 1n) / whole
const distance = (one: bigint, other: bigint): bigint => (one > other ? one - other : other - one)

/** The cost of opening, micro-USDC: the product of hundredths and ten-thousandths has millionths. */
const costOf = ({
  qty,
  entry,
  barrier,
  premiumBps
}: Pick<ContractRow["context"], "qty" | "entry" | "barrier" | "premiumBps">) => {
  const lots = units(qty, 4)
  const at = units(entry, 2)
  return {
    premium: ceil(lots * distance(at, units(barrier, 2)) * BigInt(premiumBps)),
    commission: ceil(lots * at * commissionBps)
  }
}

/**
 * The result of an ended contract, between the loss of the premium and the highest profit (F17); null while it is open.
 */
const settled = ({ state, amount, context }: ContractRow): bigint | null => {
  const { qty, entry, side, takeProfit, strict, settlePrice } = context
  if (state === "OPEN" || settlePrice === null) return null
  if (state === "KNOCKED_OUT" || (state === "EXPIRED" && strict)) return -amount
  const rise = units(settlePrice, 2) - units(entry, 2)
  const raw = units(qty, 4) * (side === "BUY" ? rise : -rise)
  const most = takeProfit === null ? null : units(qty, 4) * distance(units(takeProfit, 2), units(entry, 2))
  const capped = most !== null && raw > most ? most : raw
  return capped < -amount ? -amount : capped
}

/** The terms of a contract, which never change. */
const frozen = ({ amount, commission, clientId, rfqId, context }: ContractRow): string => {
  const ending = {
    closedAt: 0,
    settlePrice: 0,
    pnl: 0,
    closeReason: 0,
    closeRfqId: 0,
    tearing: 0,
    tearUps: 0,
    isTearUpLost: 0,
    said: 0
  }
  return JSON.stringify([String(amount), String(commission), clientId, rfqId, { ...context, ...ending }])
}
