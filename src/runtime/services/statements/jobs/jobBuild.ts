/**
 * Statements of a job that are built one client at a time: those with many rows, and those of a quarter or a year
 * (STS-29).
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { statementLimits } from "../../../../machines/shared/Limits.ts"
import type { RequestedPeriod } from "../../../../machines/statement/statementPeriod.ts"
import type { Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import type { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import type { RowReads } from "../../../ports/RowReads.ts"
import type { StatementModels } from "../../../ports/StatementModels.ts"
import { isThere } from "../../../store/reads/statementJobReads.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { PartnerRow } from "../../../tables/partner.ts"
import type { StatementRow } from "../../../tables/statement.ts"
import type { DailyEquityRow } from "../../../tables/statementJob.ts"
import type { Directory } from "../../partners/Directory.ts"
import { reading, type Reading } from "../model/Building.ts"
import { type BuildTools, factsOf } from "../model/buildStatement.ts"
import { type Filing, newestVersion } from "../fileStatement.ts"
import type { ModelBuilds } from "../build/ModelBuilds.ts"
import { statementOf } from "../Statements.ts"

/** A job's result for one client. */
export interface JobPart {
  readonly clientId: number
  readonly partnerId: number
  /** The statement to file, and the version that it supersedes (null for the first); null when nothing is filed. */
  readonly statement: { readonly filing: Filing; readonly before: StatementRow | null } | null
  readonly equities: ReadonlyArray<DailyEquityRow>
  /** The reason why the client failed, after which it is retried; null: no failure. */
  readonly failure: string | null
}

/** A part that writes nothing: the statement exists already, or the client has nothing to report. */
export const nothingOf = (clientId: number, partnerId: number): JobPart => ({
  clientId,
  partnerId,
  statement: null,
  equities: [],
  failure: null
})

export interface JobTools extends BuildTools {
  readonly sql: PgClient.PgClient
  readonly clock: BusinessClock["Service"]
  readonly directory: Directory["Service"]
  readonly models: StatementModels["Service"]
  readonly builds: ModelBuilds["Service"]
  readonly stored: RowReads["Service"]
  readonly newModelId: Effect.Effect<number>
  /** Logs and records the reason why a client's statement could not be made. */
  readonly recordFailure: (client: Pick<ClientRow, "id" | "partnerId">, defect: unknown) => Effect.Effect<JobPart>
}

export const partnerOf = (directory: Directory["Service"], partnerId: number): PartnerRow => {
  const { row } = directory.partner(partnerId) ?? {}
  if (row === undefined) throw new Error("a client without its partner")
  return row
}

export const failed = ({ id, partnerId }: Pick<ClientRow, "id" | "partnerId">, failure: string): JobPart => ({
  ...nothingOf(id, partnerId),
  failure
})

export const tooLong = `It would have more than ${statementLimits.rows} rows.`

/** The most concurrent builds. They are few, because callers take precedence. */
const atOnce = 2

/** The statements of some clients. `once`: clients with a statement of the period are skipped. */
export const singleParts = (
  tools: JobTools,
  period: RequestedPeriod,
  clients: ReadonlyArray<ClientRow>,
  once = true
): Reading<ReadonlyArray<JobPart>> =>
  Effect.forEach(clients, (client) => singlePart(tools, period, client, once), { concurrency: atOnce })

const singlePart = (tools: JobTools, period: RequestedPeriod, client: ClientRow, once: boolean): Reading<JobPart> =>
  Effect.gen(function* () {
    const { stored, directory, clock, models, builds } = tools
    const nothing = nothingOf(client.id, client.partnerId)
    const before = yield* newestVersion(stored, client.id, period)
    if (once && before !== null) return nothing
    const found = yield* factsOf(
      tools,
      statementOf(client),
      partnerOf(directory, client.partnerId),
      period,
      clock.now()
    )
    if (before?.context.facts === found.fingerprint) return nothing
    const built = yield* builds.build(models, yield* tools.newModelId, found)
    if (!built.ok) return failed(client, tooLong)
    const { model } = built
    if (before?.context.sha256 === model.sha256) return nothing
    const filing = { client: found.building.client, period, model, fingerprint: found.fingerprint }
    return { ...nothing, statement: { filing, before } }
  }).pipe(
    Effect.catchDefect((defect) => tools.recordFailure(client, defect)),
    Effect.catch((error) => unlessAway(tools, client, error))
  )

/**
 * Handles a failed read. If the database responds, it is a failure of this client alone. Otherwise the whole job waits for the
 * database.
 */
const unlessAway = (tools: JobTools, client: ClientRow, error: Unavailable): Reading<JobPart> =>
  Effect.andThen(reading(isThere(tools.sql)), tools.recordFailure(client, error))
