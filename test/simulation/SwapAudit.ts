/**
 * Checks staking swaps at each commit and at the end (D8, F22). A take reserves once and pays once, by an outcome of
 * the venue alone; each payment of a writer is booked once; the service's share is taken from the reward alone. The
 * sums are computed in whole numbers from the venue's reports, and share only the rows with the service.
 */
import type { VenueSwap } from "../../src/machines/venue/swapAtVenue.ts"
import type { AccountFact } from "../../src/machines/venue/VenueEvent.ts"
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { SwapRow } from "../../src/runtime/tables/swap.ts"
import type { Findings } from "./Findings.ts"
import type { VenueLane } from "./VenueLane.ts"

export interface SwapAuditParts {
  readonly findings: Findings
  readonly venue: VenueLane
}

interface Booked {
  principal: bigint
  principals: number
  settled: bigint
  commission: bigint
  readonly payments: Set<string>
}

const idOf = ({ ref }: VenueSwap): number => Number(ref.slice(2))
/** An amount in micro-USDC; the simulated clients lend USDC alone. */
const micro = (text: string): bigint => BigInt(Math.round(Number(text) * 1_000_000))

export class SwapAudit {
  /** Committed rows by id. */
  readonly swaps = new Map<number, SwapRow>()
  private readonly parts: SwapAuditParts
  private readonly booked = new Map<number, Booked>()

  constructor(parts: SwapAuditParts) {
    this.parts = parts
  }

  /** The USDC of a client that takes in doubt hold. */
  held(clientId: number): bigint {
    let held = 0n
    for (const row of this.swaps.values())
      if (row.clientId === clientId && row.state === "ACCEPTING") held += micro(row.context.hold)
    return held
  }

  take({ rows }: Commit): void {
    const { findings } = this.parts
    const legs = Map.groupBy(rows.postings ?? [], ({ txId }) => txId)
    for (const { txId, type, refs } of rows.ledgerTransactions ?? []) {
      if (!type.startsWith("SWAP_") && !(type === "COMMISSION" && "swapId" in refs)) continue
      const amount = (legs.get(txId) ?? []).reduce((sum, leg) => (leg.clientId === null ? sum : sum + leg.amount), 0n)
      const booked = this.bookedOf(Number(refs["swapId"]))
      if (type === "SWAP_PRINCIPAL") {
        booked.principal += amount
        booked.principals++
      }
      if (type === "SWAP_SETTLE") {
        const payment = String(refs["paymentId"])
        findings.expect(!booked.payments.has(payment), "swaps", () => `payment ${payment} is booked twice`)
        booked.payments.add(payment)
        booked.settled += amount
      }
      if (type === "COMMISSION") booked.commission -= amount
    }
    for (const row of rows.swaps ?? []) this.check(row)
  }

  private bookedOf(id: number): Booked {
    const known = this.booked.get(id)
    if (known !== undefined) return known
    const none: Booked = { principal: 0n, principals: 0, settled: 0n, commission: 0n, payments: new Set() }
    this.booked.set(id, none)
    return none
  }

  private check(row: SwapRow): void {
    const { findings } = this.parts
    const before = this.swaps.get(row.id)
    this.swaps.set(row.id, row)
    const booked = this.bookedOf(row.id)
    const [notional, reward, paid] = [micro(row.context.notional), micro(row.context.reward), micro(row.context.paid)]
    const isTaken = row.state !== "ACCEPTING" && row.state !== "REJECTED"
    const say = (): string => `swap ${row.id} from ${before?.state ?? "nothing"} to ${row.state}`
    findings.expect(booked.principals === (isTaken ? 1 : 0), "swaps", () => `${say()}: ${booked.principals} principals`)
    if (isTaken) {
      const cost = notional + micro(row.context.estimatedFee)
      findings.expect(-booked.principal === cost, "swaps", () => `${say()}: ${booked.principal} for ${cost}`)
    }
    findings.expect(booked.settled === paid, "swaps", () => `${say()}: ${booked.settled} is booked of ${paid} paid`)
    const received = paid > notional ? (paid - notional < reward ? paid - notional : reward) : 0n
    const share = (received * BigInt(row.context.commissionRewardBps)) / 10_000n
    const isOver = row.closedAt !== null
    findings.expect(
      isOver ? booked.commission === share : booked.commission === 0n,
      "swaps",
      () => `${say()}: ${booked.commission} is charged of a reward of ${received}`
    )
    this.checkClaim(row, before)
    // Only an outcome of the venue releases a reserve; elapsed time does not.
    if (before?.state !== "ACCEPTING" || row.state !== "REJECTED") return
    const there = this.parts.venue.desk.swaps.get(`S-${row.id}`)
    findings.expect(there === undefined, "swaps", () => `${say()}, and the venue has taken it`)
  }

  /** Checks that later payments repay a write-off first, and that the claim is never negative (STS-6). */
  private checkClaim({ id, state, context }: SwapRow, before: SwapRow | undefined): void {
    const [expected, paid, off] = [
      micro(context.notional) + micro(context.reward),
      micro(context.paid),
      micro(context.writtenOff)
    ]
    const came = paid - micro(before?.context.paid ?? "0")
    const stood = micro(before?.context.writtenOff ?? "0") - came
    const due = (stood > 0n ? stood : 0n) + givenUp(context) - givenUp(before?.context)
    const isWithin = off === 0n || paid + off <= expected
    this.parts.findings.expect(
      off === due && off >= 0n && isWithin && (off === 0n || state === "DEFAULTED" || state === "FINAL_SETTLEMENT"),
      "swaps",
      () => `swap ${id} is ${state} with ${off} written off, not ${due}, and ${paid} paid of ${expected}`
    )
  }

  /** True if the rows contain a fact of the venue; null for a fact of another kind. */
  isApplied(fact: AccountFact): boolean | null {
    if (fact.type !== "swap") return null
    const { swap } = fact
    const row = this.swaps.get(idOf(swap))
    return row !== undefined && swap.payments.every(({ id }) => row.context.payments.some((each) => each.id === id))
  }

  /**
   * Checks at the end of a run that the rows have every swap of the venue with all its payments, and that none is in
   * flight.
   */
  checkEnd(isUnheard: (swap: VenueSwap) => boolean): void {
    const { findings, venue } = this.parts
    for (const swap of venue.desk.swaps.values()) {
      if (isUnheard(swap)) continue
      const row = this.swaps.get(idOf(swap))
      const there = swap.payments.reduce((sum, { amount }) => sum + micro(amount), 0n)
      findings.expect(
        row !== undefined && row.contractId === swap.id && micro(row.context.paid) === there,
        "swaps",
        () => `the venue's swap ${swap.id} has paid ${there}, here it is ${row?.state} with ${row?.context.paid}`
      )
    }
  }
}

/** The sum of all write-offs of a swap, repaid ones included. */
const givenUp = (context?: SwapRow["context"]): bigint =>
  (context?.writeOffs ?? []).reduce((sum, { amount }) => sum + micro(amount), 0n)
