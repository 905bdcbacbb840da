/**
 * Measures a million open positions in an idle service: the memory of each, and the duration of the start. They are
 * stored by set-based SQL in the database alone, with clients and balances, because a start does not query the venue
 * for positions.
 */
import type { Client } from "pg"
import { bases, defaultMarkets } from "../../simulator/venue/core/defaultMarkets.ts"
import { heldBytes } from "../contracts/heapOf.ts"
import { onDatabase } from "../reference/database.ts"
import { type Spread, spreadOf } from "../rounds.ts"
import { createPartner, onboardClients } from "../setup.ts"
import { copyRows, firstStoredId } from "../storedClients.ts"
import { startWorld } from "./MarginWorld.ts"

export interface StartPlan {
  readonly dataDirectory: string
  readonly clients: number
  readonly rounds: number
  readonly progress: (line: string) => void
}

export interface StartFindings {
  readonly clients: number
  readonly positions: number
  /** Milliseconds from the start of the process until it is ready, without the positions and with them. */
  readonly without: Spread
  readonly with: Spread
  /** Bytes per position, its account included. */
  readonly bytes: number
}

/** USDC of each client, and the value of each position at its entry. */
const cash = 20_000
const notional = 1_000
/** The most positions of a client. */
const mostEach = 4

const markets = defaultMarkets
  .filter(({ family }) => family === "PERP")
  .map(({ symbol, base, lotDecimals }) => {
    const price = bases.find((each) => each.base === base)?.opening ?? "1"
    return { symbol, price, qty: (notional / Number(price)).toFixed(lotDecimals) }
  })

const storePositions = async (client: Client): Promise<number> => {
  await client.query(
    `INSERT INTO balances (client_id, currency, partner_id, cash, reserved, deposited)
     SELECT id, 'USDC', partner_id, $1::bigint * 1000000, 0, 0 FROM clients WHERE id > ${firstStoredId}`,
    [cash]
  )
  // Clients are long and short in turn, in the same markets.
  await client.query(
    `INSERT INTO positions (id, partner_id, client_id, symbol, state, net_qty, avg_entry, net_cost, currency, amount, realized_pnl,
                            opened_at, updated_at)
     SELECT (c.id - ${firstStoredId}) * ${mostEach} + k, c.partner_id, c.id, m.symbol, 'OPEN',
            CASE c.id % 2 WHEN 0 THEN m.qty ELSE '-' || m.qty END, m.price,
            trim_scale(CASE c.id % 2 WHEN 0 THEN 1 ELSE -1 END * m.qty::numeric * m.price::numeric)::text, 'USDC',
            trunc(m.qty::numeric * m.price::numeric * 1000000)::bigint, 0, c.created_at, c.created_at
       FROM clients c, generate_series(0, ${mostEach - 1}) AS k,
            unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS m(symbol, price, qty, n)
      WHERE c.id > ${firstStoredId} AND k <= (c.id / 2) % ${mostEach} AND n = 1 + (c.id / 2 + k) % cardinality($1::text[])`,
    [markets.map(({ symbol }) => symbol), markets.map(({ price }) => price), markets.map(({ qty }) => qty)]
  )
  await client.query("VACUUM ANALYZE")
  const { rows } = await client.query<{ readonly n: string }>("SELECT count(*) AS n FROM positions")
  return Number(rows[0]?.n)
}

interface Starts {
  readonly millis: Spread
  /** Bytes that the last started process holds. */
  readonly bytes: number
}

const measureStarts = async ({ dataDirectory, rounds }: StartPlan): Promise<Starts> => {
  const times: Array<number> = []
  let bytes = 0
  for (let round = 1; round <= rounds; round++) {
    const service = await startWorld(dataDirectory)
    times.push(service.readyMillis)
    if (round === rounds) bytes = await heldBytes(service.pid)
    await service.stop()
  }
  return { millis: spreadOf(times), bytes }
}

export const measurePositionStarts = async (plan: StartPlan): Promise<StartFindings> => {
  const { dataDirectory, clients, progress } = plan
  const made = await startWorld(dataDirectory)
  const partner = await createPartner(made, "STARTS")
  const [template] = (await onboardClients(made, partner, 1, "starts")).clientIds as [number]
  await made.stop()
  const empty = await measureStarts(plan)
  const filling = await startWorld(dataDirectory)
  const positions = await onDatabase(filling.databaseUrl, async (client) => {
    await copyRows(client, "clients", template, clients)
    return storePositions(client)
  })
  await filling.stop()
  progress(`${positions} positions of ${clients} clients stored`)
  const full = await measureStarts(plan)
  const bytes = (full.bytes - empty.bytes) / Math.max(1, positions)
  progress(
    `start with them ${full.millis.median.toFixed(0)} ms, without ${empty.millis.median.toFixed(0)} ms; ${bytes.toFixed(0)} bytes each`
  )
  return { clients, positions, without: empty.millis, with: full.millis, bytes }
}
