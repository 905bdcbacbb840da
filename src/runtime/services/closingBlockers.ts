/**
 * What stands in the way of closing a partner, and the partners being closed right now (D15). While one is, corrections
 * by the operator are refused: nothing may come between the count and the closing. In memory, because only one process
 * decides for a database (the writer epoch).
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { formatAmount } from "../../machines/shared/Money.ts"
import type { ActorHost, Unavailable } from "../engine/ActorHost.ts"
import { whenAway } from "./whenAway.ts"

const closing = new WeakMap<ActorHost["Service"], Set<number>>()

/** The partners of this host that are being closed. */
export const closingPartners = (host: ActorHost["Service"]): Set<number> => {
  let partners = closing.get(host)
  if (partners === undefined) closing.set(host, (partners = new Set()))
  return partners
}

/** Sentences: money at clients, items the partner has not settled, what the firms owe each other. */
export const closingBlockers = (
  sql: PgClient.PgClient,
  partnerId: number
): Effect.Effect<ReadonlyArray<string>, Unavailable> =>
  Effect.gen(function* () {
    const balances = yield* sql.unsafe<{ readonly n: bigint }>(
      "SELECT count(DISTINCT client_id) AS n FROM balances WHERE partner_id = $1 AND (cash <> 0 OR reserved <> 0)",
      [BigInt(partnerId)]
    )
    const items = yield* sql.unsafe<{ readonly state: string; readonly n: bigint }>(
      "SELECT state, count(*) AS n FROM settlement_items WHERE partner_id = $1 AND state <> 'SETTLED' GROUP BY state ORDER BY state DESC",
      [BigInt(partnerId)]
    )
    // Every item counts, settled or not (document 3, net); the sum of many may leave 64 bits.
    const net = yield* sql.unsafe<{ readonly net: string }>(
      "SELECT coalesce(sum(amount), 0)::text AS net FROM settlement_items WHERE partner_id = $1",
      [BigInt(partnerId)]
    )
    const outstanding = BigInt(net[0]?.net ?? 0)
    const holders = Number(balances[0]?.n ?? 0)
    const open = items.map(({ state, n }) => `${n} ${state}`)
    return [
      ...(holders === 0 ? [] : [`${holders} of the partner's clients hold a balance.`]),
      ...(open.length === 0 ? [] : [`Settlement items are not settled: ${open.join(", ")}.`]),
      ...(outstanding === 0n ? [] : [`${formatAmount(outstanding, "USDC")} USDC are outstanding between the firms.`])
    ]
  }).pipe(Effect.catch(whenAway))
