/**
 * What is open between a partner, its clients and the service, in figures, as a port: the service reads Postgres; the
 * deterministic simulation reads the store of JournalMemory instead (architecture, Proof).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { Unavailable } from "../engine/mailbox/ActorHost.ts"
import { type OpenGroup, openOfPartner } from "../store/openRows.ts"
import { whenAway } from "../store/whenAway.ts"

/** Ids named in a group; the rest is counted. */
export const namedIds = 5

/** Balances of one currency, kind and sign. */
export interface HeldGroup {
  readonly kind: "cash" | "reserved"
  readonly currency: string
  readonly n: bigint
  /** Minor units, signed. Sums of many 64-bit amounts may leave 64 bits, so they come as text. */
  readonly total: string
  /** The first clients, separated by commas. */
  readonly ids: string
}

/** Micro-USDC as text. */
export interface CustodyFigures {
  /** The partner's house account. */
  readonly account: string
  /** What the firms have recorded as paid; positive: the service paid the partner. */
  readonly paid: string
}

export class PartnerBooks extends Context.Service<
  PartnerBooks,
  {
    /** Cash and reserves of the partner's clients that are not zero, USDC first; `usdcAlone`: no other currency. */
    held(partnerId: number, usdcAlone: boolean): Effect.Effect<ReadonlyArray<HeldGroup>, Unavailable>
    custodyAccount(partnerId: number): Effect.Effect<CustodyFigures, Unavailable>
    /** Whatever somebody still has to act on, in every table that has such work. */
    open(partnerId: number): Effect.Effect<ReadonlyArray<OpenGroup>, Unavailable>
    /** Net of every item ever, settled or not, less what the firms have paid each other; micro-USDC as text. */
    outstanding(partnerId: number): Effect.Effect<string, Unavailable>
  }
>()("brokerage/runtime/ports/PartnerBooks") {
  static readonly layer: Layer.Layer<PartnerBooks, never, PgClient.PgClient> = Layer.effect(
    PartnerBooks,
    Effect.map(PgClient.PgClient, (sql) => {
      const ask = <A extends object>(
        text: string,
        partnerId: number
      ): Effect.Effect<ReadonlyArray<A>, SqlError.SqlError> => sql.unsafe<A>(text, [BigInt(partnerId)])
      const away = <A>(read: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A, Unavailable> =>
        Effect.catch(read, whenAway)
      return PartnerBooks.of({
        held: (partnerId, usdcAlone) => away(ask<HeldGroup>(heldStatement(usdcAlone), partnerId)),
        custodyAccount: (partnerId) =>
          away(
            Effect.map(ask<CustodyFigures>(custodyStatement, partnerId), ([row]) => row ?? { account: "0", paid: "0" })
          ),
        open: (partnerId) => away(openOfPartner(sql, partnerId, namedIds)),
        outstanding: (partnerId) =>
          away(
            Effect.map(ask<{ readonly total: string }>(outstandingStatement, partnerId), ([row]) => row?.total ?? "0")
          )
      })
    })
  )
}

const heldStatement = (usdcAlone: boolean): string => `
  SELECT b.currency, k.kind, count(*) AS n, sum(k.amount)::text AS total,
         array_to_string((array_agg(b.client_id ORDER BY b.client_id))[1:${namedIds}], ', ') AS ids
    FROM balances b CROSS JOIN LATERAL (VALUES ('cash', b.cash), ('reserved', b.reserved)) AS k (kind, amount)
   WHERE b.partner_id = $1 AND k.amount <> 0${usdcAlone ? " AND b.currency = 'USDC'" : ""}
   GROUP BY b.currency, k.kind, sign(k.amount)
   ORDER BY (b.currency <> 'USDC'), b.currency, k.kind, sign(k.amount)`

/** House accounts have no index of their own: their postings are found through what their reports booked. */
const custodyStatement = `
  SELECT (-coalesce(sum(amount), 0))::text AS account,
         (SELECT coalesce(sum(amount), 0)::text FROM interfirm_records WHERE partner_id = $1) AS paid
    FROM posting_totals
   WHERE partner_id = $1 AND currency = 'USDC' AND type IN ('PARTNER_COLLATERAL_IN', 'PARTNER_COLLATERAL_OUT')`

const outstandingStatement = `
  SELECT ((SELECT coalesce(sum(credits - debits), 0) FROM settlement_totals WHERE partner_id = $1)
        - (SELECT coalesce(sum(amount), 0) FROM interfirm_records WHERE partner_id = $1))::text AS total`
