/** The venue's time of a posting: of a trade, contract or swap from its row, of others from the posting's refs (STS-19). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { type Execution, executionOf } from "../../../../machines/postingRules.ts"
import type { SwapContext } from "../../../../machines/swap/Swap.ts"
import { contractTimes } from "../../../store/reads/statementContracts.ts"
import type { StatementPosting, TimedPosting } from "../../../store/reads/statementReads.ts"
import { swapsByIds } from "../../../store/reads/statementSwaps.ts"
import { type Reading, reading } from "./Building.ts"
import { swapOf } from "./swapPostings.ts"

/** A posting with the time at which the venue executed it, Unix ms; null if the venue did not cause it. */
export interface AtVenue {
  readonly of: TimedPosting
  readonly venueTs: number | null
}

export const venueTimes = (
  sql: PgClient.PgClient,
  postings: ReadonlyArray<TimedPosting>
): Reading<ReadonlyArray<AtVenue>> =>
  Effect.gen(function* () {
    const contracts = new Set<number>()
    const swaps = new Set<number>()
    for (const posting of postings) {
      if (posting.tradeTs !== null) continue
      const contract = contractOf(posting)
      const swap = fromVenue.has(posting.type) ? swapOf(posting) : null
      if (contract !== null) contracts.add(contract)
      if (swap !== null) swaps.add(swap)
    }
    const ofContracts = contracts.size === 0 ? new Map() : yield* reading(contractTimes(sql, [...contracts]))
    const ofSwaps = swaps.size === 0 ? new Map<number, SwapContext>() : yield* reading(swapsByIds(sql, [...swaps]))
    const timeOf = (posting: TimedPosting): number | null => {
      if (posting.tradeTs !== null) return posting.tradeTs
      if (fromVenue.has(posting.type)) return swapTime(posting, ofSwaps.get(swapOf(posting) ?? 0))
      if (posting.type === "FUNDING") return numberOr(posting.refs["settledAt"])
      if (textsOf(posting.type) !== null) return numberOr(posting.refs["venueTs"])
      const contract = contractOf(posting)
      if (contract === null) return null
      const times = ofContracts.get(contract)
      return (posting.type === "BARRIER_SETTLE" ? times?.closedAt : times?.openedAt) ?? null
    }
    return postings.map((of) => ({ of, venueTs: timeOf(of) }))
  })

/**
 * The texts of the row of a posting, if the row needs no object. Null: the row needs an object, or the posting has no
 * row.
 */
export const textsOf = (type: string): Exclude<Execution, "object"> | null => {
  const execution = executionOf(type)
  return execution === "object" ? null : execution
}

/** Types of swap postings that the venue causes: a take or a payment. */
const fromVenue = new Set(["SWAP_PRINCIPAL", "SWAP_SETTLE"])

const swapTime = ({ type, refs }: StatementPosting, swap: SwapContext | undefined): number | null => {
  if (type === "SWAP_PRINCIPAL") return swap?.openedTs ?? null
  return swap?.payments.find(({ id }) => id === refs["paymentId"])?.at ?? null
}

const contractKey = /^(?:commission:contract|settle):([0-9]+)$/

/** The id of the knock-out contract in the key of a posting; null if the posting belongs to none. */
export const contractOf = ({ key }: Pick<StatementPosting, "key">): number | null => {
  const [, id] = contractKey.exec(key) ?? []
  return id === undefined ? null : Number(id)
}

const numberOr = (value: unknown): number | null => (typeof value === "number" ? value : null)
