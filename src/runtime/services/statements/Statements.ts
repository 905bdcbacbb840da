/**
 * Statements of clients: generated on request within limits, listed, and readable for ever. A build runs independently
 * of its caller, who waits up to a timeout. No lock is held while the model is built and stored. Afterwards one short
 * turn of the client writes its row (D20, A2-65, A2-66, A2-75, STS-15, STS-19, STS-21).
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer } from "effect"
import { statementLimits } from "../../../machines/shared/Limits.ts"
import { accept, conflict, refuse, unknown, type Verdict } from "../../../machines/shared/Refusal.ts"
import { invalidBody } from "../../../machines/shared/RequestBody.ts"
import { type StatementRow as StatementWire, statementRowOf } from "../../../machines/statement/Statement.ts"
import type { StatementKind } from "../../../machines/statement/statementTokens.ts"
import { decodeStatement, type StatementRequest } from "../../../machines/statement/StatementBody.ts"
import { type RequestedPeriod, periodOf, taxYearAt } from "../../../machines/statement/statementPeriod.ts"
import { requestedTaxPeriod } from "../../../machines/statement/taxYears.ts"
import { ActorHost, type Attribution, type DispatchError, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { currentDryRun } from "../../engine/mailbox/dryRun.ts"
import { Journal } from "../../engine/journal/Journal.ts"
import { SealingService } from "../../engine/sealing/SealingService.ts"
import { RowReads } from "../../ports/RowReads.ts"
import { StatementModels } from "../../ports/StatementModels.ts"
import { Settings } from "../../Settings.ts"
import type { PageEnd, PageQuery } from "../../store/paging.ts"
import { buildsSince } from "../../store/reads/statementLists.ts"
import type { StatementRow } from "../../tables/statement.ts"
import type { Caller } from "../partners/Caller.ts"
import type { ClientRow } from "../../tables/client.ts"
import { clientSubject, readersClient } from "../account/clientState.ts"
import { Directory } from "../partners/Directory.ts"
import { rowPage } from "../account/listReads.ts"
import { reading, type Stated } from "./model/Building.ts"
import { FairLimiter } from "../shared/FairLimiter.ts"
import { BuildWindow, partnerBuilds } from "./build/BuildWindow.ts"
import { factsOf, type StatementFacts } from "./model/buildStatement.ts"
import { fileStatement, type Maker, newestVersion } from "./fileStatement.ts"
import { ModelBuilds } from "./build/ModelBuilds.ts"
import { nextModelId } from "./build/nextModelId.ts"
import { RunningBuilds } from "./build/RunningBuilds.ts"
import { isBritishAt, requestedTaxYear } from "./model/taxYears.ts"

export interface StatementPage extends PageEnd {
  readonly statements: ReadonlyArray<StatementWire>
}

export class Statements extends Context.Service<
  Statements,
  {
    generate(caller: Caller, clientId: number, body: unknown): Effect.Effect<Verdict<StatementWire>, DispatchError>
    /**
     * Like `generate`, for any client and on behalf of an operator or the service. `client`: the committed row of the
     * client.
     */
    generateFor(maker: Maker, client: ClientRow, body: unknown): Effect.Effect<Verdict<StatementWire>, DispatchError>
    /** Builds a statement's period again by the present facts and rules. New content becomes the next version (STS-33). */
    correct(by: Attribution, statementId: number, reason: string): Effect.Effect<Verdict<StatementWire>, DispatchError>
    list(
      partnerId: number,
      clientId: number,
      query: PageQuery & { readonly kind?: StatementKind }
    ): Effect.Effect<StatementPage | null, Unavailable>
    /**
     * The client's statement. Null: the client has none with this id, or belongs to another partner. `partnerId` null:
     * any partner.
     */
    find(
      partnerId: number | null,
      clientId: number,
      statementId: number
    ): Effect.Effect<StatementRow | null, Unavailable>
    byId(statementId: number): Effect.Effect<StatementRow | null, Unavailable>
  }
>()("brokerage/runtime/services/statements/Statements") {
  static readonly layer = Layer.effect(
    Statements,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const clock = yield* BusinessClock
      const stored = yield* RowReads
      const directory = yield* Directory
      const models = yield* StatementModels
      const builds = yield* ModelBuilds
      const journal = yield* Journal
      const sql = yield* PgClient.PgClient
      const sealing = yield* SealingService
      const { firm } = yield* Settings
      const tools = { sql, sealing, firm }
      const room = new FairLimiter(partnerBuilds)
      const window = new BuildWindow()
      const running = new RunningBuilds(yield* Effect.scope, yield* Clock.Clock)

      const newModelId = nextModelId(journal)

      /** The store for the models of a build; null in a dry run, which stores none. */
      const modelsNow = () => (currentDryRun() === null ? models : null)

      const requestedPeriod = (
        client: ClientRow,
        request: StatementRequest
      ): Effect.Effect<Verdict<RequestedPeriod>, Unavailable> =>
        request.kind === "TAX"
          ? Effect.map(requestedTaxYear(tools, client.id, request.taxYear, clock.now()), requestedTaxPeriod)
          : Effect.succeed(periodOf(request, clock.now()))

      /** Reads the facts of a period, once all turns of the client so far are in the database (STS-19). */
      const facts = (
        by: Attribution,
        client: ClientRow,
        period: RequestedPeriod
      ): Effect.Effect<StatementFacts, DispatchError> =>
        Effect.gen(function* () {
          yield* host.dispatch({ subject: clientSubject(client.id), by, decide: () => {} })
          const { row } = directory.partner(client.partnerId) ?? {}
          if (row === undefined) return yield* Effect.die(new Error("a client without its partner"))
          return yield* factsOf(tools, statementOf(client), row, period, clock.now())
        })

      const build = (maker: Maker, found: StatementFacts): Effect.Effect<Verdict<StatementRow>, DispatchError> =>
        Effect.gen(function* () {
          const { client, period } = found.building
          const modelId = yield* newModelId
          const built = yield* builds.build(modelsNow(), modelId, found)
          if (!built.ok) return refuse(built.refusal)
          return yield* fileStatement({ host, stored }, maker, {
            client,
            period,
            model: built.model,
            fingerprint: found.fingerprint
          })
        })

      /** Counts a build of the client. Returns null if the build may run, otherwise the time of the next permitted build. */
      const counted = (clientId: number): Effect.Effect<number | null, Unavailable> =>
        Effect.gen(function* () {
          const now = clock.now()
          if (!window.knows(clientId)) {
            const since = now - statementLimits.builds.windowMillis
            window.learn(clientId, yield* reading(buildsSince(sql, clientId, since)))
          }
          return window.take(clientId, now)
        })

      const generateFor = (
        maker: Maker,
        client: ClientRow,
        body: unknown
      ): Effect.Effect<Verdict<StatementWire>, DispatchError> =>
        Effect.gen(function* () {
          const decoded = decodeStatement(body)
          if (!decoded.ok) return refuse(invalidBody(decoded))
          const { request } = decoded
          const judged = yield* requestedPeriod(client, request)
          if (!judged.ok) return judged
          const period = judged.value
          const key = `${period.kind}:${client.id}:${period.from}:${period.cutFrom ?? period.to}`
          const found = running.find(key) ?? (yield* begun(maker, client, period, key))
          return "ok" in found ? wireOf(found) : wireOf(yield* running.wait(found))
        })

      /** Begins a build, or finds one in progress. Returns the existing statement if no build is needed. */
      const begun = (maker: Maker, client: ClientRow, period: RequestedPeriod, key: string) =>
        Effect.gen(function* () {
          const found = yield* facts(maker.by, client, period)
          const newest = yield* newestVersion(stored, client.id, period)
          if (newest?.context.facts === found.fingerprint) return accept(newest)
          if (currentDryRun() !== null) return yield* build(maker, found)
          const other = running.find(key)
          if (other !== undefined) return other
          if (room.isFull(client.partnerId, 1)) return yield* new Unavailable({ unknown: false })
          const retryAt = yield* counted(client.id)
          if (retryAt !== null) return refuse({ _tag: "TooManyBuilds", retryAt } as const)
          return yield* running.begin(
            key,
            room.within(client.partnerId, 1, build(maker, found)),
            period.cutFrom !== null
          )
        })

      const make = (maker: Maker, client: ClientRow, period: RequestedPeriod) =>
        Effect.flatMap(facts(maker.by, client, period), (found) => build(maker, found))

      return Statements.of({
        generate: (caller, clientId, body) =>
          Effect.gen(function* () {
            const client = yield* host.read(clientSubject(clientId), (state) =>
              readersClient(state, caller.partner.row.id)
            )
            if (client === null) return refuse(unknown("Client"))
            return yield* generateFor({ by: caller.by, role: caller.by.role, correction: null }, client, body)
          }),
        generateFor,
        correct: (by, statementId, reason) =>
          Effect.gen(function* () {
            const row = yield* byId(statementId)
            if (row === null) return refuse(unknown("Statement"))
            if (row.state !== "GENERATED")
              return refuse(conflict("STATEMENT_SUPERSEDED", "A later version stands in place of this statement."))
            const client = yield* host.read(clientSubject(row.clientId), (state) => state.one("clients") ?? null)
            if (client === null) return refuse(unknown("Client"))
            const isBritish = row.kind === "TAX" && (yield* isBritishAt(tools, client.id, row.periodTo))
            const period = periodOfRow(row, isBritish)
            return wireOf(yield* make({ by, role: by.role, correction: reason }, client, period))
          }),
        list: (partnerId, clientId, { kind, ...query }) =>
          Effect.gen(function* () {
            const own = yield* host.read(clientSubject(clientId), (state) => readersClient(state, partnerId) !== null)
            if (!own) return null
            const conditions = [
              { column: "client_id", value: clientId },
              ...(kind === undefined ? [] : [{ column: "kind", value: kind }])
            ]
            const { shown, end } = yield* rowPage(stored, "statements", conditions, query, (row) => row.id)
            return { statements: shown.map(({ state, context }) => statementRowOf(state, context)), ...end }
          }),
        find: (partnerId, clientId, statementId) =>
          Effect.map(byId(statementId), (row) =>
            row === null || row.clientId !== clientId || (partnerId !== null && row.partnerId !== partnerId)
              ? null
              : row
          ),
        byId
      })

      function byId(statementId: number): Effect.Effect<StatementRow | null, Unavailable> {
        return Effect.map(stored.among("statements", [statementId]), ([row]) => row ?? null)
      }
    })
  )
}

/** The facts of a client that every statement shows. */
export const statementOf = ({ id, partnerId, uid, createdAt }: ClientRow): Stated => ({
  clientId: id,
  partnerId,
  clientUid: uid,
  createdAt
})

const wireOf = (verdict: Verdict<StatementRow>): Verdict<StatementWire> =>
  verdict.ok ? accept(statementRowOf(verdict.value.state, verdict.value.context)) : verdict

/** The request that a stored statement answers. `isBritish`: the tax residency at the end of a TAX period. */
const periodOfRow = ({ kind, periodFrom, periodTo }: StatementRow, isBritish: boolean): RequestedPeriod => ({
  kind,
  from: periodFrom,
  to: periodTo,
  cutFrom: null,
  taxYear: kind === "TAX" ? taxYearAt(periodTo - 1, isBritish) : null,
  isBritish
})
