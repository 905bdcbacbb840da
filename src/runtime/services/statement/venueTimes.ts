/** The venue's time beside a posting's own: of trades, contracts and swaps by their rows, of funding its stamp (STS-19). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SwapContext } from "../../../machines/swap/Swap.ts"
import { int8s } from "../../store/arrays.ts"
import { contractTimes } from "../../store/reads/statementContracts.ts"
import { type StatedPosting, tradeTimes } from "../../store/reads/statementReads.ts"
import { swapsByIds } from "../../store/reads/statementSwaps.ts"
import { type Reading, reading } from "./Building.ts"
import { swapOf } from "./swapPostings.ts"

const tradeKey = /^(?:pnl|commission|spot|release):([0-9]+:[0-9]+)$/

/** The order and trade that a posting is of. */
const tradeOf = ({ key }: StatedPosting): string | null => tradeKey.exec(key)?.[1] ?? null

/** Of each posting in turn: Unix ms; null where the venue has no part in it. */
export const venueTimes = (
  sql: PgClient.PgClient,
  postings: ReadonlyArray<StatedPosting>
): Reading<ReadonlyArray<number | null>> =>
  Effect.gen(function* () {
    const tradesOf = postings.map(tradeOf)
    const trades = tradesOf.flatMap((trade) => (trade === null ? [] : [trade.split(":").map(Number)]))
    const contracts = postings.flatMap((posting, at) => {
      const contract = tradesOf[at] === null ? contractOf(posting) : null
      return contract === null ? [] : [contract]
    })
    const ofTrades =
      trades.length === 0
        ? new Map<string, number>()
        : yield* reading(
            tradeTimes(sql, int8s(trades.map(([order = 0]) => order)), int8s(trades.map(([, trade = 0]) => trade)))
          )
    const ofContracts = contracts.length === 0 ? new Map() : yield* reading(contractTimes(sql, [...new Set(contracts)]))
    const swaps = postings.flatMap((posting) => (told.has(posting.type) ? (swapOf(posting) ?? []) : []))
    const ofSwaps =
      swaps.length === 0 ? new Map<number, SwapContext>() : yield* reading(swapsByIds(sql, [...new Set(swaps)]))
    return postings.map((posting, at) => {
      if (told.has(posting.type)) return swapTime(posting, ofSwaps.get(swapOf(posting) ?? 0))
      if (posting.type === "FUNDING") return numberOr(posting.refs["settledAt"])
      const trade = tradesOf[at] ?? null
      if (trade !== null) return ofTrades.get(trade) ?? null
      const contract = contractOf(posting)
      if (contract === null) return null
      const times = ofContracts.get(contract)
      return (posting.type === "BARRIER_SETTLE" ? times?.closedAt : times?.openedAt) ?? null
    })
  })

/** Of a swap: the venue took it, or paid. */
const told = new Set(["SWAP_PRINCIPAL", "SWAP_SETTLE"])

const swapTime = ({ type, refs }: StatedPosting, swap: SwapContext | undefined): number | null => {
  if (type === "SWAP_PRINCIPAL") return swap?.openedTs ?? null
  return swap?.payments.find(({ id }) => id === refs["paymentId"])?.at ?? null
}

const contractKey = /^(?:commission:contract|settle):([0-9]+)$/

/** The knock-out contract that a posting is of. */
export const contractOf = ({ key }: Pick<StatedPosting, "key">): number | null => {
  const [, id] = contractKey.exec(key) ?? []
  return id === undefined ? null : Number(id)
}

const numberOr = (value: unknown): number | null => (typeof value === "number" ? value : null)
