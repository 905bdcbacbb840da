/** Reads of clients: the row and the verification view from the client's actor, lists and lookups from the database. */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { ClientWire, VerificationView } from "../../../../machines/client/ClientWire.ts"
import type { Facts } from "../../../../machines/market/Facts.ts"
import { cleanText } from "../../../../machines/shared/Text.ts"
import { ActorHost, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../../engine/mailbox/SubjectState.ts"
import { SealingService } from "../../../engine/sealing/SealingService.ts"
import { Settings } from "../../../Settings.ts"
import { type ClientFilter, clientIdByRef, listedClients } from "../../../store/reads/clientReads.ts"
import type { ClientRow } from "../../../tables/client.ts"
import { RiskStates } from "../../account/RiskStates.ts"
import {
  clientSubject,
  clientWire,
  clientWireOf,
  readersClient,
  shownRiskState,
  verificationView
} from "../../account/clientState.ts"
import { cutPage, onePast, type PageEnd } from "../../../store/paging.ts"

export type ClientQuery = ClientFilter

export interface ClientPage extends PageEnd {
  readonly clients: ReadonlyArray<ClientWire>
}

export class Clients extends Context.Service<
  Clients,
  {
    /** True if the client exists and belongs to the partner. */
    owns(partnerId: number, clientId: number): Effect.Effect<boolean, Unavailable>
    /** The client's row; null if the client does not exist or belongs to another partner. */
    get(partnerId: number, clientId: number): Effect.Effect<ClientWire | null, Unavailable>
    byRef(partnerId: number, ref: string): Effect.Effect<ClientWire | null, Unavailable>
    list(partnerId: number | null, query: ClientQuery): Effect.Effect<ClientPage, Unavailable>
    verification(partnerId: number, clientId: number): Effect.Effect<VerificationView | null, Unavailable>
  }
>()("brokerage/runtime/services/clients/client/Clients") {
  static readonly layer = Layer.effect(
    Clients,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const sql = yield* PgClient.PgClient
      const sealing = yield* SealingService
      const settings = yield* Settings
      const states = yield* RiskStates
      const away = () => new Unavailable({ unknown: false })

      const readClient = <A>(
        partnerId: number,
        clientId: number,
        view: (state: SubjectState, row: ClientRow, facts: Facts) => A
      ) =>
        host.read(clientSubject(clientId), (state, facts) => {
          const row = readersClient(state, partnerId)
          return row === null ? null : view(state, row, facts)
        })
      const get = (partnerId: number, clientId: number) => readClient(partnerId, clientId, clientWire)

      return Clients.of({
        owns: (partnerId, clientId) =>
          host.readNow(clientSubject(clientId), (state) => readersClient(state, partnerId) !== null),
        get,
        verification: (partnerId, clientId) =>
          readClient(partnerId, clientId, (state, row) =>
            verificationView(state, row, settings.sourceOfWealthThreshold)
          ),
        byRef: (partnerId, ref) =>
          clientIdByRef(sql, partnerId, cleanText(ref)).pipe(
            Effect.mapError(away),
            Effect.flatMap((id) => (id === null ? Effect.succeed(null) : get(partnerId, id)))
          ),
        list: (partnerId, query) =>
          listedClients(sql, sealing, partnerId, { ...query, ...onePast(query), q: cleanText(query.q ?? "") }).pipe(
            Effect.mapError(away),
            Effect.map((rows) => {
              const { shown, end } = cutPage(rows, query.limit, ({ row }) => row.id)
              const facts = host.facts()
              const clients = shown.map(({ row, usdc }) => {
                const riskState = shownRiskState(states.of(row.id), facts)
                return clientWireOf(row, { cash: usdc, riskState })
              })
              return { clients, ...end }
            })
          )
      })
    })
  )
}
