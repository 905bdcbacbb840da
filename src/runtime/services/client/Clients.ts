/** Reads of clients: the row and the verification view from the client's actor, lists and look-ups from the database. */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { LifecycleState, VerificationLevel } from "../../../machines/client/Client.ts"
import type { ClientWire, VerificationView } from "../../../machines/client/ClientWire.ts"
import type { Facts } from "../../../machines/market/Facts.ts"
import { cleanText } from "../../../machines/shared/Text.ts"
import { ActorHost, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import { SealingService } from "../../engine/sealing/SealingService.ts"
import { columnList, decodeRow } from "../../engine/journal/SubjectLoader.ts"
import { Settings } from "../../Settings.ts"
import { catalogue } from "../../store/Catalogue.ts"
import type { ClientRow } from "../../store/tables/client.ts"
import { clientSubject, clientWire, clientWireOf, ownClient, verificationView } from "./clientState.ts"
import { cutPage, type PageEnd, type PageQuery } from "../../store/paging.ts"

export interface ClientQuery extends PageQuery {
  /** Case-insensitive part of e-mail, display name or reference; wildcards are literal (A1-09). */
  readonly q?: string
  readonly state?: LifecycleState
  readonly level?: VerificationLevel
}

export interface ClientPage extends PageEnd {
  readonly clients: ReadonlyArray<ClientWire>
}

export class Clients extends Context.Service<
  Clients,
  {
    /** Whether the client is there and the partner's. */
    owns(partnerId: number, clientId: number): Effect.Effect<boolean, Unavailable>
    /** Null: unknown, or another partner's. */
    get(partnerId: number, clientId: number): Effect.Effect<ClientWire | null, Unavailable>
    byRef(partnerId: number, ref: string): Effect.Effect<ClientWire | null, Unavailable>
    list(partnerId: number | null, query: ClientQuery): Effect.Effect<ClientPage, Unavailable>
    verification(partnerId: number, clientId: number): Effect.Effect<VerificationView | null, Unavailable>
  }
>()("brokerage/runtime/services/client/Clients") {
  static readonly layer = Layer.effect(
    Clients,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const sql = yield* PgClient.PgClient
      const sealing = yield* SealingService
      const settings = yield* Settings
      const away = () => new Unavailable({ unknown: false })

      const look = <A>(
        partnerId: number,
        clientId: number,
        view: (state: SubjectState, row: ClientRow, facts: Facts) => A
      ) =>
        host.read(clientSubject(clientId), (state, facts) => {
          const row = ownClient(state, partnerId)
          return row === null ? null : view(state, row, facts)
        })
      const get = (partnerId: number, clientId: number) => look(partnerId, clientId, clientWire)

      return Clients.of({
        owns: (partnerId, clientId) =>
          host.read(clientSubject(clientId), (state) => ownClient(state, partnerId) !== null),
        get,
        verification: (partnerId, clientId) =>
          look(partnerId, clientId, (state, row) => verificationView(state, row, settings.sourceOfWealthThreshold)),
        byRef: (partnerId, ref) =>
          sql
            .unsafe<{ readonly id: bigint }>(
              "SELECT id FROM clients WHERE partner_id = $1 AND partner_client_ref = $2",
              [BigInt(partnerId), cleanText(ref)]
            )
            .pipe(
              Effect.mapError(away),
              Effect.flatMap((rows) =>
                rows[0] === undefined ? Effect.succeed(null) : get(partnerId, Number(rows[0].id))
              )
            ),
        list: (partnerId, query) => {
          const { text, values } = listStatement(partnerId, query)
          return sql.unsafe<Record<string, unknown>>(text, values).pipe(
            Effect.mapError(away),
            Effect.map((rows) => {
              const { shown, end } = cutPage(rows, query.limit, (raw) => Number(raw["id"]))
              const facts = host.facts()
              const clients = shown.map((raw) => {
                const row = decodeRow(catalogue.clients, raw, sealing) as ClientRow
                return clientWireOf(row, (raw["usdc"] as bigint | null) ?? 0n, facts)
              })
              return { clients, ...end }
            })
          )
        }
      })
    })
  )
}

/** `partnerId` null lists the clients of every partner (operator only). */
const listStatement = (
  partnerId: number | null,
  query: ClientQuery
): { readonly text: string; readonly values: ReadonlyArray<string | bigint> } => {
  const values: Array<string | bigint> = []
  const put = (value: string | bigint): string => `$${values.push(value)}`
  const tests: Array<string> = []
  if (partnerId !== null) tests.push(`partner_id = ${put(BigInt(partnerId))}`)
  if (query.before !== undefined) tests.push(`id < ${put(BigInt(query.before))}`)
  if (query.state !== undefined) tests.push(`state = ${put(query.state)}`)
  if (query.level !== undefined) tests.push(`level = ${put(query.level)}`)
  const q = cleanText(query.q ?? "")
  if (q !== "") {
    const pattern = put(`%${q.replaceAll(/[\\%_]/g, (character) => `\\${character}`)}%`)
    tests.push(`(email ILIKE ${pattern} OR display_name ILIKE ${pattern} OR partner_client_ref ILIKE ${pattern})`)
  }
  const where = tests.length === 0 ? "" : ` WHERE ${tests.join(" AND ")}`
  const balance = `(SELECT cash FROM balances b WHERE b.client_id = clients.id AND b.currency = 'USDC') AS usdc`
  return {
    text: `SELECT ${columnList(catalogue.clients)}, ${balance} FROM clients${where} ORDER BY id DESC LIMIT ${put(BigInt(query.limit + 1))}`,
    values
  }
}
