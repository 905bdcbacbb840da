/**
 * Measures the settlement summary over few items and over a hundred times as many (doc 3, Settlement summary). It compares the
 * route's time with that of a plain sum over the rows, and the growth of both times. SQL stores the items, and both sides must
 * count the same number.
 */
import { Child } from "../child.ts"
import { percentile } from "../load/protocol.ts"
import { onDatabase } from "../reference/database.ts"
import { type Spread, spreadOf } from "../rounds.ts"
import type { RunningService } from "../service.ts"
import type { BenchPartner } from "../setup.ts"
import type { MoneyResult, MoneySlice } from "./protocol.ts"

export interface SummaryFindings {
  readonly items: number
  readonly p50: Spread
  readonly p99: Spread
  /** Median of one plain sum, ms. */
  readonly plain: Spread
}

export interface SummaryPlan {
  readonly sizes: ReadonlyArray<number>
  readonly rounds: number
  readonly millis: number
  readonly progress: (line: string) => void
}

const dayMillis = 86_400_000
const days = 365
/** The first id of stored items, far above all ids of the service. */
const firstId = 1_000_000_000_000
const plainSums = 10

const storeItems = (
  url: string,
  { partnerId }: BenchPartner,
  clientId: number,
  from: number,
  to: number,
  end: number
) =>
  onDatabase(url, async (client) => {
    await client.query(
      `INSERT INTO settlement_items (id, partner_id, client_id, shard, state, version, context, type, currency, amount, tx_id, occurred_at)
       SELECT $1 + n, $2, $3, 0, (ARRAY['PENDING', 'SETTLED', 'SETTLED', 'FAILED'])[1 + n % 4], '1', '{}', 'PNL', 'USDC',
              (1 + n % 1000) * (1 - 2 * (n % 2)), -n, $6::bigint - (n % ${days}) * ${dayMillis}::bigint - (n * 7919) % ${dayMillis}
         FROM generate_series($4::bigint, $5::bigint - 1) n`,
      [firstId, partnerId, clientId, from, to, end]
    )
    await client.query("VACUUM ANALYZE settlement_items")
  })

const sum = `SELECT state, count(*) AS n, sum(greatest(amount, 0)) AS credits, sum(greatest(-amount, 0)) AS debits
  FROM settlement_items WHERE partner_id = $1 AND occurred_at BETWEEN $2 AND $3 GROUP BY state ORDER BY state`

interface Figure {
  readonly count: number
}
interface SummaryAnswer {
  readonly data: {
    readonly currencies: ReadonlyArray<{
      readonly currency: string
      readonly pending: Figure
      readonly settled: Figure
      readonly failed: Figure
    }>
  }
}

const countsTold = (text: string): ReadonlyArray<number> => {
  const usdc = (JSON.parse(text) as SummaryAnswer).data.currencies.find(({ currency }) => currency === "USDC")
  return [usdc?.failed.count ?? -1, usdc?.pending.count ?? -1, usdc?.settled.count ?? -1]
}

export const measureSummary = async (
  service: RunningService,
  partner: BenchPartner,
  clientId: number,
  { sizes, rounds, millis, progress }: SummaryPlan
): Promise<ReadonlyArray<SummaryFindings>> => {
  const load = new Child<MoneySlice, MoneyResult>("money/load.ts")
  const findings: Array<SummaryFindings> = []
  const end = Date.now() - 1_000
  // The window ends within days: whole days are read from the totals, the partial days from the rows.
  const [from, to] = [end - 200 * dayMillis - 12_345_678, end - 3 * dayMillis - 23_456_789]
  let stored = 0
  try {
    for (const items of sizes) {
      await storeItems(service.databaseUrl, partner, clientId, stored, items, end)
      stored = items
      const slices: Array<MoneyResult> = []
      const plain: Array<number> = []
      for (let round = 0; round < rounds; round++) {
        slices.push(
          await load.ask({
            ...partner,
            kind: "summary",
            port: service.port,
            ca: service.ca,
            operatorKey: "",
            clientIds: [],
            itemIds: [],
            search: `?from=${from}&to=${to}`,
            connections: 1,
            millis,
            tag: ""
          })
        )
        const counts = await onDatabase(service.databaseUrl, async (client) => {
          const times: Array<number> = []
          let found: ReadonlyArray<number> = []
          for (let n = 0; n < plainSums; n++) {
            const begun = performance.now()
            const { rows } = await client.query<{ readonly n: string }>(sum, [partner.partnerId, from, to])
            times.push(performance.now() - begun)
            found = rows.map((row) => Number(row.n))
          }
          plain.push(
            percentile(
              times.toSorted((a, b) => a - b),
              0.5
            )
          )
          return found
        })
        const last = slices.at(-1)
        if (last === undefined || last.errors > 0) throw new Error(`the summary failed: ${last?.firstError}`)
        const told = countsTold(last.lastText)
        if (told.join() !== counts.join()) throw new Error(`the summary counts ${told}, the rows are ${counts}`)
      }
      const found = {
        items,
        p50: spreadOf(slices.map((slice) => slice.p50Millis)),
        p99: spreadOf(slices.map((slice) => slice.p99Millis)),
        plain: spreadOf(plain)
      }
      findings.push(found)
      progress(
        `summary, ${items} items: p50 ${found.p50.median.toFixed(1)} ms, plain sum ${found.plain.median.toFixed(1)} ms`
      )
    }
    return findings
  } finally {
    await load.stop()
  }
}
