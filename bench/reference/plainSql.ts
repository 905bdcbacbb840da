/** The same rows by plain SQL: the tuned statements without HTTP, `concurrency` connections writing as fast as they can. */
import { randomUUID } from "node:crypto"
import { Pool } from "pg"
import { percentile } from "../load/protocol.ts"
import type { PlainSqlQuestion, PlainSqlResult } from "./protocol.ts"
import { loadReferenceIds } from "./ReferenceIds.ts"
import { type CollateralBody, writeCollateral } from "./writeCollateral.ts"

const partnerIdQuery = "SELECT partner_id FROM clients WHERE id = $1"

/** Runs one window; every transaction that was begun is finished and counted in `acknowledged`. */
export const runPlainSql = async (question: PlainSqlQuestion): Promise<PlainSqlResult> => {
  const { clientIds, concurrency } = question
  const pool = new Pool({ connectionString: question.databaseUrl, max: concurrency })
  try {
    const { rows } = await pool.query<{ readonly partner_id: string }>(partnerIdQuery, [clientIds[0]])
    const partnerId = Number(rows[0]?.partner_id)
    const ids = await loadReferenceIds(pool)
    const latencies: Array<number> = []
    let acknowledged = 0
    let count = 0
    const startedAt = performance.now()
    const deadline = startedAt + question.millis
    const work = async () => {
      const connection = await pool.connect()
      try {
        for (let begun = performance.now(); begun < deadline; begun = performance.now()) {
          const reference = `${question.tag}-${String(count++).padStart(9, "0")}`
          const body: CollateralBody = {
            partnerRef: reference,
            direction: "DEPOSIT",
            amount: "1.250000",
            txRef: `bank-${reference}`
          }
          await writeCollateral(connection, "tuned", ids, {
            partnerId,
            clientId: clientIds[Math.floor(Math.random() * clientIds.length)] as number,
            idempotencyKey: randomUUID(),
            requestId: randomUUID(),
            text: JSON.stringify(body),
            body,
            now: Date.now()
          })
          acknowledged++
          const ended = performance.now()
          if (ended <= deadline) latencies.push(ended - begun)
        }
      } finally {
        connection.release()
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    const ascending = Float64Array.from(latencies).sort()
    return {
      rate: (latencies.length / question.millis) * 1_000,
      acknowledged,
      p50Millis: percentile(ascending, 0.5),
      p99Millis: percentile(ascending, 0.99)
    }
  } finally {
    await pool.end()
  }
}
