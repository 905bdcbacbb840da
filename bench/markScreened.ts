/**
 * Records in the database that every client has been screened against every entry, so that the next start has no
 * screening work while rounds are measured.
 */
import type { Client } from "pg"
import type { ScreeningPassContext } from "../src/machines/screening/ScreeningPass.ts"
import { screeningPassMachine } from "../src/machines/screening/screeningPassMachine.ts"
import { screeningRulesVersion } from "../src/machines/screening/screen.ts"

export const markScreened = async (client: Client): Promise<void> => {
  const { rows } = await client.query<{ readonly id: string; readonly last: string }>(
    "SELECT nextval('id_screening_pass') AS id, (SELECT coalesce(max(id), 0) FROM watch_entries) AS last"
  )
  const now = Date.now()
  const passId = Number(rows[0]?.id)
  const context: ScreeningPassContext = {
    passId,
    trigger: "RULES",
    scope: "ALL",
    rules: screeningRulesVersion,
    fromEntry: 0,
    toEntry: Number(rows[0]?.last),
    startedAt: now,
    after: 0,
    screened: 0,
    endedAt: now
  }
  await client.query(
    "INSERT INTO screening_passes (id, state, version, context, started_at) VALUES ($1, 'DONE', $2, $3, $4)",
    [passId, screeningPassMachine.version, JSON.stringify(context), now]
  )
}
