/**
 * The open work and balances between a partner, its clients and the service, as a port: the service reads Postgres; the
 * deterministic simulation reads the store of JournalMemory instead (architecture, Proof).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { Unavailable } from "../engine/mailbox/ActorHost.ts"
import { type OpenGroup, openOfPartner } from "../store/openRows.ts"
import {
  type CustodyFigures,
  custodyFigures,
  type HeldGroup,
  heldGroups,
  namedIds,
  outstandingOf
} from "../store/reads/partnerReads.ts"
import { whenAway } from "../store/whenAway.ts"

export class PartnerBooks extends Context.Service<
  PartnerBooks,
  {
    /** Cash and reserves of the partner's clients that are not zero, USDC first; `usdcAlone`: only USDC. */
    held(partnerId: number, usdcAlone: boolean): Effect.Effect<ReadonlyArray<HeldGroup>, Unavailable>
    custodyAccount(partnerId: number): Effect.Effect<CustodyFigures, Unavailable>
    /** The open work of the partner and its clients, one group for each table that has some; empty if nothing is open. */
    open(partnerId: number): Effect.Effect<ReadonlyArray<OpenGroup>, Unavailable>
    /** The net of all items, settled or not, less the payments between the firms; micro-USDC as text. */
    outstanding(partnerId: number): Effect.Effect<string, Unavailable>
  }
>()("brokerage/runtime/ports/PartnerBooks") {
  static readonly layer: Layer.Layer<PartnerBooks, never, PgClient.PgClient> = Layer.effect(
    PartnerBooks,
    Effect.map(PgClient.PgClient, (sql) => {
      const away = <A>(read: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A, Unavailable> =>
        Effect.catch(read, whenAway)
      return PartnerBooks.of({
        held: (partnerId, usdcAlone) => away(heldGroups(sql, partnerId, usdcAlone)),
        custodyAccount: (partnerId) => away(custodyFigures(sql, partnerId)),
        open: (partnerId) => away(openOfPartner(sql, partnerId, namedIds)),
        outstanding: (partnerId) => away(outstandingOf(sql, partnerId))
      })
    })
  )
}
