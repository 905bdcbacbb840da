/**
 * Builds the model of a statement: its cut, its head and its sections, stored in pieces. It holds no mailbox and no
 * transaction, because the ids of the cut bound all reads (STS-17, STS-19, STS-20, STS-22).
 */
import { Effect } from "effect"
import { statementLimits } from "../../../../machines/shared/Limits.ts"
import { invalidFields, type Refusal } from "../../../../machines/shared/Refusal.ts"
import { schemaOf } from "../../../../machines/statement/Statement.ts"
import type { StatementKind } from "../../../../machines/statement/statementTokens.ts"
import type { Cut, ModelHead } from "../../../../machines/statement/StatementModel.ts"
import { type RequestedPeriod, startOfDay, thirtyDaysMillis } from "../../../../machines/statement/statementPeriod.ts"
import type { PgClient } from "@effect/sql-pg"
import type { Sealing } from "../../../engine/sealing/Sealing.ts"
import type { StatementModels } from "../../../ports/StatementModels.ts"
import type { FirmSettings } from "../../../Settings.ts"
import { marksKept } from "../../../store/reads/statementCosts.ts"
import { custodyAt, cutOffBefore, sealOfPosting } from "../../../store/reads/statementReads.ts"
import { type Building, type Plan, type Reading, reading, type Stated, type Wrong } from "./Building.ts"
import { type StoredModel, writeModel } from "./ModelWriter.ts"
import { canonicalText } from "./modelText.ts"
import { planStatement, type PlanTerms } from "./planStatement.ts"

/** The database, the keys and the firm's settings with which a model is built. */
export interface BuildTools {
  readonly sql: PgClient.PgClient
  readonly sealing: Sealing
  readonly firm: FirmSettings
}

/** The partner's data that statements show. */
export interface StatementPartner {
  readonly code: string
  /** The current custody model of the partner. */
  readonly custodyModel: string
}

/** The input of a model. The same facts give the same model. */
export interface StatementFacts {
  readonly building: Building
  readonly head: Omit<ModelHead, "notes">
  readonly terms: PlanTerms
  readonly fingerprint: string
}

/** The facts of a period that are read from the database before its rows. */
export interface ReadFacts {
  readonly start: Cut
  readonly cut: Cut
  /** The last objects of the days after the period that the British rule of matching includes. */
  readonly behind: Cut
  /** The number of stored marks of the period's days. */
  readonly marks: number
  readonly ledgerSeal: ModelHead["ledgerSeal"]
  readonly custodyModel: string
}

/**
 * The facts of a statement of the period. The client's turns up to its end must be durable. The fingerprint also covers
 * facts that the cut does not determine: the seal, the days after the end, and the marks and equities of its days.
 */
export const factsOf = (
  tools: BuildTools,
  client: Stated,
  partner: StatementPartner,
  period: RequestedPeriod,
  now: number
): Reading<StatementFacts> =>
  Effect.gen(function* () {
    const { sql } = tools
    const { clientId } = client
    const start = yield* reading(cutOffBefore(sql, clientId, period.from))
    const cut = yield* reading(cutOffBefore(sql, clientId, period.to))
    const behind = period.isBritish ? yield* reading(cutOffBefore(sql, clientId, period.to + thirtyDaysMillis)) : cut
    const marks =
      period.kind === "COSTS" || period.kind === "CLIENT_ASSETS"
        ? yield* reading(marksKept(sql, { from: startOfDay(period.from), to: period.to }))
        : 0
    const ledgerSeal = cut.postingId === 0 ? null : yield* reading(sealOfPosting(sql, cut.postingId))
    const custodyModel = yield* reading(custodyAt(sql, client.partnerId, partner.custodyModel, period.to))
    return factsFrom(tools, client, partner, period, { start, cut, behind, marks, ledgerSeal, custodyModel }, now)
  })

export const factsFrom = (
  { sql, firm }: BuildTools,
  client: Stated,
  partner: StatementPartner,
  period: RequestedPeriod,
  { start, cut, behind, marks, ledgerSeal, custodyModel }: ReadFacts,
  now: number
): StatementFacts => {
  const tax = { isBritish: period.isBritish, behind, isComplete: now >= period.to + thirtyDaysMillis }
  const head: Omit<ModelHead, "notes"> = {
    schema: schemaOf[period.kind],
    kind: period.kind,
    firm: { name: firm.name, legalEntity: firm.legalEntity },
    partner: partner.code,
    clientUid: client.clientUid,
    custodyModel,
    currency: "USDC",
    periodFrom: period.from,
    periodTo: period.to,
    timeZone: period.isBritish ? "Europe/London" : "UTC",
    cut,
    ledgerSeal
  }
  const building: Building = { sql, client, period, start, cut, venue: firm.venue }
  const terms: PlanTerms = { custodyModel, tax }
  const fingerprint = canonicalText({ ...head, marks, ...(period.isBritish ? { tax: { ...tax } } : {}) } as never)
  return { building, head, terms, fingerprint }
}

export type Built =
  | { readonly ok: true; readonly model: StoredModel }
  | { readonly ok: false; readonly refusal: Refusal }

/** Builds and stores the model of these facts. Refuses a statement with too many rows. */
export const buildModel = (
  models: Pick<StatementModels["Service"], "write" | "finish" | "drop">,
  modelId: number,
  { building, head, terms }: Pick<StatementFacts, "building" | "head" | "terms">,
  planned: Effect.Effect<Plan, Wrong> = planStatement(building, terms)
): Effect.Effect<Built, Exclude<Wrong, { readonly _tag: "TooManyRows" }>> =>
  Effect.gen(function* () {
    const { clientId, partnerId } = building.client
    const plan = yield* planned
    if (plan.rows > statementLimits.rows) return tooManyRows(building.period.kind)
    const target = { models, modelId, partnerId, clientId, mostRows: statementLimits.rows }
    const model = yield* writeModel(target, { ...head, notes: plan.notes }, plan.sections)
    return { ok: true, model } as const
  }).pipe(Effect.catchTag("TooManyRows", () => Effect.succeed(tooManyRows(building.period.kind))))

const fieldOf: { readonly [K in StatementKind]: string } = {
  ACCOUNT: "to",
  COSTS: "to",
  TRANSACTIONS: "to",
  TAX: "taxYear",
  CLIENT_ASSETS: "quarter"
}

const tooManyRows = (kind: StatementKind): Built => ({
  ok: false,
  refusal: invalidFields(
    { [fieldOf[kind]]: `The statement would have more than ${statementLimits.rows} rows: ask for a shorter period.` },
    "STATEMENT_TOO_LARGE"
  )
})
