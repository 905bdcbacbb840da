/**
 * Executions other than fills, from the period's postings: openings and ends of knock-out contracts, takes and payments of
 * staking swaps with their charges, and transactions of other nouns. They also include write-offs of swaps, which move no money
 * (STS-25).
 */
import { Effect } from "effect"
import { executionTypes } from "../../../../machines/postingRules.ts"
import { texts } from "../../../store/arrays.ts"
import { postingsOfTypes, type StatementPosting } from "../../../store/reads/statementReads.ts"
import { swapsWrittenOff } from "../../../store/reads/statementSwaps.ts"
import { type Building, eachStretch, postingsOfPeriod, reading, type Wrong } from "./Building.ts"
import { swapOf } from "./swapPostings.ts"
import { contractOf, textsOf } from "./venueTimes.ts"

export interface BookedEvent {
  readonly ts: number
  /** "posting": the row needs no object. */
  readonly of: "contract" | "swap" | "posting"
  /** Id of the contract, of the swap or of the posting. */
  readonly id: number
  /** Null: a write-off. */
  readonly posting: StatementPosting | null
  /** The amount of a write-off, in the asset's full scale. */
  readonly amount: string | null
  /** The service's share of a reward, minor units of the asset. */
  charged: bigint
}

const types = texts(["COMMISSION", ...executionTypes])

/** The events in the order of booking. A write-off follows all bookings of its millisecond. */
export const bookedEvents = (at: Building): Effect.Effect<ReadonlyArray<BookedEvent>, Wrong> =>
  Effect.gen(function* () {
    const walk = new EventWalk()
    yield* eachStretch(at, postingsOfPeriod(at), (stretch) =>
      Effect.map(reading(postingsOfTypes(at.sql, at.client.clientId, types, stretch)), (postings) => {
        for (const posting of postings) walk.take(posting)
      })
    )
    const { from, to } = at.period
    for (const [id, { writeOffs }] of yield* reading(swapsWrittenOff(at.sql, at.client.clientId, at.cut.swapId))) {
      for (const { amount, at: ts } of writeOffs) if (ts >= from && ts < to) walk.writeOff(id, ts, amount)
    }
    const idOf = ({ posting }: BookedEvent) => posting?.postingId ?? Number.MAX_SAFE_INTEGER
    return walk.events.toSorted((one, other) => one.ts - other.ts || idOf(one) - idOf(other) || one.id - other.id)
  })

class EventWalk {
  readonly events: Array<BookedEvent> = []
  /** The last event of each swap, to which the charges of its turn belong. */
  private readonly last = new Map<number, BookedEvent>()
  /** Charges of turns without a payment, by swap and time. */
  private readonly alone = new Map<string, bigint>()

  take(posting: StatementPosting): void {
    const { type, ts } = posting
    const contract = contractOf(posting)
    if (contract !== null) return this.add({ ts, of: "contract", id: contract, posting, amount: null, charged: 0n })
    if (textsOf(type) !== null)
      return this.add({ ts, of: "posting", id: posting.postingId, posting, amount: null, charged: 0n })
    const swap = swapOf(posting)
    if (swap === null) return
    if (type !== "COMMISSION") return this.add({ ts, of: "swap", id: swap, posting, amount: null, charged: 0n })
    const event = this.last.get(swap)
    if (event?.ts === ts) event.charged -= posting.amount
    else this.alone.set(`${swap}:${ts}`, -posting.amount)
  }

  writeOff(id: number, ts: number, amount: string): void {
    const key = `${id}:${ts}`
    this.add({ ts, of: "swap", id, posting: null, amount, charged: this.alone.get(key) ?? 0n })
    this.alone.delete(key)
  }

  private add(event: BookedEvent): void {
    this.events.push(event)
    if (event.of === "swap") this.last.set(event.id, event)
  }
}

const tradeKey = /^spot:([0-9]+:[0-9]+)$/

/**
 * The settlement amounts of the period's spot trades in their quote, by order and trade. The amounts are rounded so
 * that their sum fits the order's totals (F20).
 */
export const spotSettled = (at: Building): Effect.Effect<ReadonlyMap<string, bigint>, Wrong> =>
  Effect.gen(function* () {
    const settled = new Map<string, bigint>()
    const spot = texts(["SPOT_SETTLE"])
    yield* eachStretch(at, postingsOfPeriod(at), (stretch) =>
      Effect.map(reading(postingsOfTypes(at.sql, at.client.clientId, spot, stretch)), (postings) => {
        for (const { key, currency, amount } of postings) {
          const [, trade] = tradeKey.exec(key) ?? []
          if (trade !== undefined && currency === "USDC") settled.set(trade, amount < 0n ? -amount : amount)
        }
      })
    )
    return settled
  })
