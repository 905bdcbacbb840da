/**
 * Deliveries in Postgres. Any number of workers on any number of processes share the table: a lease locks rows with SKIP
 * LOCKED and stamps them, a result is written only while the stamp is still there (architecture section 4, Webhooks).
 */
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Layer, Result } from "effect"
import type { SqlError } from "effect/sql"
import { webhookLimits } from "../../../machines/shared/Limits.ts"
import { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { versionOf } from "../../engine/machine/step.ts"
import { SealingService } from "../../engine/sealing/SealingService.ts"
import { columnList, decodeRow } from "../../engine/journal/SubjectLoader.ts"
import { withinTime } from "../../engine/withinTime.ts"
import { whenAway } from "../../store/whenAway.ts"
import { catalogue } from "../../store/Catalogue.ts"
import type { TableSpec } from "../../store/Table.ts"
import type { DeliveryRow } from "../../store/tables/webhook.ts"
import { DeliveryStore } from "./DeliveryStore.ts"

const spec: TableSpec<"webhookDeliveries"> = catalogue.webhookDeliveries
const columns = columnList(spec as TableSpec)
const leasedColumns = spec.columns.map(({ sqlName }) => `w."${sqlName}"`).join(", ")

/**
 * One index walk a lane, so that a partner's backlog costs the others nothing. Its commit does not wait for the disk
 * (asynchronous for this statement alone): a lease that a power cut undoes is a delivery that is sent again.
 */
const leaseText = `WITH fast AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)),
lanes AS (SELECT v.p, v.n FROM unnest($1::int8[], $2::int8[]) AS v(p, n), fast),
due AS (
  SELECT d.id FROM lanes CROSS JOIN LATERAL (
    SELECT id FROM webhook_deliveries
     WHERE partner_id = lanes.p AND state IN ('PENDING', 'RETRYING') AND next_at <= $3
       AND (claimed_at IS NULL OR claimed_at < $4) AND id <> ALL ($5::int8[])
     ORDER BY next_at, id LIMIT lanes.n FOR UPDATE SKIP LOCKED) d)
UPDATE webhook_deliveries w SET claim_token = $6, claimed_at = $3 FROM due WHERE w.id = due.id RETURNING ${leasedColumns}`

const finishText = `UPDATE webhook_deliveries w
   SET state = v.state, version = v.version, context = v.context::json, next_at = v.next_at, claim_token = NULL, claimed_at = NULL
  FROM unnest($1::int8[], $2::text[], $3::text[], $4::int8[], $5::text[], $6::text[], $7::text[], $8::int8[])
       AS v(id, was_token, was_state, was_next_at, state, version, context, next_at)
 WHERE w.id = v.id AND w.claim_token IS NOT DISTINCT FROM v.was_token AND w.state = v.was_state AND w.next_at = v.was_next_at
RETURNING w.id`

const readText = `SELECT ${columns} FROM webhook_deliveries WHERE id = ANY ($1::int8[])`

const int8s = (values: ReadonlyArray<number>): unknown =>
  Result.getOrThrow(
    PgTypes.array(
      values.map((value) => BigInt(value)),
      PgTypes.OID.int8
    )
  )
const texts = (values: ReadonlyArray<string | null>): unknown =>
  Result.getOrThrow(PgTypes.array(values, PgTypes.OID.text))

export const DeliveryStorePg = {
  layer: Layer.effect(
    DeliveryStore,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const sealing = yield* SealingService
      const decode = (raw: Readonly<Record<string, unknown>>) =>
        decodeRow(spec as TableSpec, raw, sealing) as DeliveryRow
      const patiently = <A>(query: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A, Unavailable> =>
        withinTime(query, () => new Unavailable({ unknown: true })).pipe(
          Effect.catch((error) => (error instanceof Unavailable ? Effect.fail(error) : whenAway(error)))
        )
      return DeliveryStore.of({
        lease: ({ token, now, lanes, except }) =>
          lanes.length === 0
            ? Effect.succeed([])
            : sql
                .unsafe<Record<string, unknown>>(leaseText, [
                  int8s(lanes.map((lane) => lane.partnerId)),
                  int8s(lanes.map((lane) => lane.limit)),
                  BigInt(now),
                  BigInt(now - webhookLimits.leaseTakeoverMillis),
                  int8s(except),
                  token
                ])
                .pipe(
                  patiently,
                  Effect.map((rows) => rows.map(decode).toSorted((a, b) => a.nextAt - b.nextAt || a.id - b.id))
                ),
        finish: (changes) => {
          if (changes.length === 0) return Effect.succeed(new Set())
          // Two workers that write the same rows in one order can't wait for each other.
          const sorted = changes.toSorted((a, b) => a.before.id - b.before.id)
          const version = versionOf("webhookDelivery")
          return sql
            .unsafe<{ readonly id: bigint }>(finishText, [
              int8s(sorted.map(({ before }) => before.id)),
              texts(sorted.map(({ before }) => before.claimToken)),
              texts(sorted.map(({ before }) => before.state)),
              int8s(sorted.map(({ before }) => before.nextAt)),
              texts(sorted.map(({ state }) => state)),
              texts(sorted.map(() => version)),
              texts(sorted.map(({ context }) => JSON.stringify(context))),
              int8s(sorted.map(({ nextAt }) => nextAt))
            ])
            .pipe(
              patiently,
              Effect.map((rows) => new Set(rows.map(({ id }) => Number(id))))
            )
        },
        read: (ids) =>
          ids.length === 0
            ? Effect.succeed([])
            : sql.unsafe<Record<string, unknown>>(readText, [int8s(ids)]).pipe(
                patiently,
                Effect.map((rows) => rows.map(decode))
              )
      })
    })
  )
}
