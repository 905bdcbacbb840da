/** Orders, fills, positions, lots of assets, chosen leverage (doc 2; D6). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { idBlockSize, idSequenceOf } from "../engine/journal/IdBlocks.ts"

export const m0031 = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const kind of ["order", "fill", "position", "spotLot"] as const)
    yield* sql.unsafe(
      `CREATE SEQUENCE IF NOT EXISTS ${idSequenceOf(kind)} AS bigint INCREMENT BY ${idBlockSize(kind)} START 1`
    )
  const working = "('CHECKED', 'SENT', 'ACKED', 'PARTIAL', 'PENDING_TRIGGER', 'PENDING_CANCEL')"
  yield* sql`CREATE TABLE orders (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    state text NOT NULL,
    version text NOT NULL,
    context json NOT NULL,
    symbol text NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL CHECK (amount >= 0),
    parent_order_id bigint,
    created_at bigint NOT NULL)`
  yield* sql`CREATE INDEX orders_client ON orders (client_id, id)`
  yield* sql.unsafe(`CREATE INDEX orders_working ON orders (client_id) WHERE state IN ${working}`)
  yield* sql.unsafe(`CREATE INDEX orders_partner_working ON orders (partner_id) WHERE state IN ${working}`)

  yield* sql`CREATE TABLE fills (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    order_id bigint NOT NULL,
    trade_id bigint NOT NULL,
    symbol text NOT NULL,
    family text NOT NULL,
    side text NOT NULL,
    price text NOT NULL,
    qty text NOT NULL,
    closed_qty text,
    currency text NOT NULL,
    notional bigint NOT NULL,
    commission bigint NOT NULL,
    realized_pnl bigint NOT NULL,
    ts bigint NOT NULL,
    UNIQUE (order_id, trade_id))`
  yield* sql`CREATE INDEX fills_client ON fills (client_id, id)`
  yield* sql`CREATE INDEX fills_closing ON fills (client_id, id) WHERE closed_qty IS NOT NULL`

  yield* sql`CREATE TABLE positions (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    symbol text NOT NULL,
    state text NOT NULL,
    net_qty text NOT NULL,
    avg_entry text NOT NULL,
    net_cost text NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL,
    realized_pnl bigint NOT NULL,
    opened_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    UNIQUE (client_id, symbol))`
  yield* sql`CREATE INDEX positions_partner_open ON positions (partner_id) WHERE state = 'OPEN'`

  yield* sql`CREATE TABLE spot_lots (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    asset text NOT NULL,
    qty bigint NOT NULL CHECK (qty >= 0),
    cost bigint NOT NULL CHECK (cost >= 0),
    commission bigint NOT NULL CHECK (commission >= 0),
    acquired_at bigint NOT NULL)`
  yield* sql`CREATE INDEX spot_lots_left ON spot_lots (client_id) WHERE qty > 0`

  yield* sql`CREATE TABLE fired_groups (
    id bigint PRIMARY KEY,
    partner_id bigint NOT NULL,
    client_id bigint NOT NULL,
    symbol text NOT NULL,
    name text NOT NULL,
    fired_at bigint NOT NULL)`
  yield* sql`CREATE INDEX fired_groups_name ON fired_groups (client_id, symbol, name)`

  yield* sql`CREATE TABLE leverages (
    client_id bigint NOT NULL,
    symbol text NOT NULL,
    partner_id bigint NOT NULL,
    leverage bigint NOT NULL CHECK (leverage >= 1),
    updated_at bigint NOT NULL,
    PRIMARY KEY (client_id, symbol))`
})
