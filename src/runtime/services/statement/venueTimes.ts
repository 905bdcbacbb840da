/** The venue's time beside a posting's own: of trades and contracts by their rows, of funding its stamp (STS-19). */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { int8s } from "../../store/arrays.ts"
import { contractTimes } from "../../store/reads/statementContracts.ts"
import { type StatedPosting, tradeTimes } from "../../store/reads/statementReads.ts"
import { type Reading, reading } from "./Building.ts"

const tradeKey = /^(?:pnl|commission|spot|release):([0-9]+):([0-9]+)$/

/** By posting: Unix ms; null where the venue has no part in it. */
export const venueTimes = (
  sql: PgClient.PgClient,
  postings: ReadonlyArray<StatedPosting>
): Reading<(posting: StatedPosting) => number | null> =>
  Effect.gen(function* () {
    const trades = postings.flatMap(({ key }) => {
      const [, order, trade] = tradeKey.exec(key) ?? []
      return order === undefined || trade === undefined ? [] : [{ order: Number(order), trade: Number(trade) }]
    })
    const contracts = postings.flatMap((posting) => {
      const contract = contractOf(posting)
      return contract === null ? [] : [contract]
    })
    const ofTrades =
      trades.length === 0
        ? new Map<string, number>()
        : yield* reading(
            tradeTimes(sql, int8s(trades.map(({ order }) => order)), int8s(trades.map(({ trade }) => trade)))
          )
    const ofContracts = contracts.length === 0 ? new Map() : yield* reading(contractTimes(sql, [...new Set(contracts)]))
    return (posting) => {
      if (posting.type === "FUNDING") return numberOr(posting.refs["settledAt"])
      const [, order, trade] = tradeKey.exec(posting.key) ?? []
      if (order !== undefined) return ofTrades.get(`${order}:${trade}`) ?? null
      const contract = contractOf(posting)
      if (contract === null) return null
      const times = ofContracts.get(contract)
      return (posting.type === "BARRIER_SETTLE" ? times?.closedAt : times?.openedAt) ?? null
    }
  })

const contractKey = /^(?:commission:contract|settle):([0-9]+)$/

/** The knock-out contract that a posting is of. */
export const contractOf = ({ key }: Pick<StatedPosting, "key">): number | null => {
  const [, id] = contractKey.exec(key) ?? []
  return id === undefined ? null : Number(id)
}

const numberOr = (value: unknown): number | null => (typeof value === "number" ? value : null)
