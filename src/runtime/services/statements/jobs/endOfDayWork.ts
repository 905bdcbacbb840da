/**
 * TRANSACTIONS statements of many clients together. Their cuts, executions and models are read and written in a
 * handful of SQL statements, so an end-of-day run of short statements needs no round trips per client. The plan of a
 * model is that of a requested statement, so both have the same bytes (A2-68, STS-29).
 */
import { Effect } from "effect"
import type { RequestedPeriod } from "../../../../machines/statement/statementPeriod.ts"
import type { NewModel, NewPiece } from "../../../ports/StatementModels.ts"
import {
  type Bounds,
  boundsBefore,
  type ClientCuts,
  cutsOfClients,
  fillsOfClients,
  settledOfClients,
  statementClients
} from "../../../store/reads/statementJobReads.ts"
import { custodyAt, type StatementFill } from "../../../store/reads/statementReads.ts"
import type { ClientRow } from "../../../tables/client.ts"
import { type Building, pageRows, type Reading, reading } from "../model/Building.ts"
import { buildModel, factsFrom, type StatementFacts } from "../model/buildStatement.ts"
import { failed, type JobPart, type JobTools, nothingOf, partnerOf, singleParts, tooLong } from "./jobBuild.ts"

import { bookedEvents } from "../model/bookedEvents.ts"
import { type ExecutionReads, planExecutions } from "../model/planTransactions.ts"
import { statementOf } from "../Statements.ts"

/** The most fills per client in the shared read. A client with more fills is processed alone. */
const mostFills = 200

export interface EndOfDayClient {
  readonly client: ClientRow
  /** True if the client also had executions other than trades, which are then read separately. */
  readonly others: boolean
}

/** Facts that are the same for all clients of an end-of-day run, and are read only once. */
export class EndOfDayFacts {
  private bounds: { readonly start: Bounds; readonly end: Bounds } | null = null
  private readonly custody = new Map<number, string>()
  readonly period: RequestedPeriod

  constructor(period: RequestedPeriod) {
    this.period = period
  }

  boundsIn({ sql }: JobTools): Reading<{ readonly start: Bounds; readonly end: Bounds }> {
    return Effect.gen({ self: this }, function* () {
      this.bounds ??= {
        start: yield* reading(boundsBefore(sql, this.period.from)),
        end: yield* reading(boundsBefore(sql, this.period.to))
      }
      return this.bounds
    })
  }

  /** The custody model that the partner had at the end of the run's period. */
  custodyOf({ sql, directory }: JobTools, partnerId: number): Reading<string> {
    return Effect.gen({ self: this }, function* () {
      const known = this.custody.get(partnerId)
      if (known !== undefined) return known
      const { custodyModel } = partnerOf(directory, partnerId)
      const found = yield* reading(custodyAt(sql, partnerId, custodyModel, this.period.to))
      this.custody.set(partnerId, found)
      return found
    })
  }
}

export const makeEndOfDay = (
  tools: JobTools,
  night: EndOfDayFacts,
  clients: ReadonlyArray<EndOfDayClient>
): Reading<ReadonlyArray<JobPart>> =>
  Effect.gen(function* () {
    const { sql } = tools
    const { period } = night
    const ids = clients.map(({ client }) => client.id)
    const stated = yield* reading(statementClients(sql, ids, period))
    const open = clients.filter(({ client }) => !stated.has(client.id))
    const done = clients.filter(({ client }) => stated.has(client.id))
    const cuts = new Map(
      open.length === 0
        ? []
        : (yield* reading(
            cutsOfClients(
              sql,
              open.map(({ client }) => client.id),
              period,
              yield* night.boundsIn(tools)
            )
          )).map((each) => [each.clientId, each] as const)
    )
    const fills = yield* fillsOf(tools, [...cuts.values()])
    const isShort = ({ client }: EndOfDayClient): boolean => (fills.get(client.id)?.length ?? 0) <= mostFills
    const short = yield* shortParts(tools, night, open.filter(isShort), { cuts, fills })
    const long = yield* singleParts(
      tools,
      period,
      open.filter((each) => !isShort(each)).map(({ client }) => client)
    )
    return [...done.map(({ client }) => nothingOf(client.id, client.partnerId)), ...short, ...long]
  })

type Fills = ReadonlyMap<number, ReadonlyArray<StatementFill>>

const fillsOf = ({ sql }: JobTools, cuts: ReadonlyArray<ClientCuts>): Reading<Fills> =>
  cuts.length === 0
    ? Effect.succeed(new Map())
    : reading(
        fillsOfClients(
          sql,
          cuts.map(({ clientId, start, cut }) => ({ clientId, after: start.fillId, to: cut.fillId })),
          mostFills + 1
        )
      )

interface Read {
  readonly cuts: ReadonlyMap<number, ClientCuts>
  readonly fills: Fills
}

/**
 * Makes the statements of clients whose fills the shared read has in memory. They are built in this thread, and written
 * together.
 */
const shortParts = (
  tools: JobTools,
  night: EndOfDayFacts,
  clients: ReadonlyArray<EndOfDayClient>,
  { cuts, fills }: Read
): Reading<ReadonlyArray<JobPart>> =>
  Effect.gen(function* () {
    const written = new WrittenModels()
    const settled = yield* settledOf(tools, clients, { cuts, fills })
    const parts: Array<JobPart> = []
    for (const { client, others } of clients) {
      const cutsOf = cuts.get(client.id) as ClientCuts
      const custodyModel = yield* night.custodyOf(tools, client.partnerId)
      const { ledgerSeal, start, cut } = cutsOf
      const read = { start, cut, behind: cut, marks: 0, ledgerSeal, custodyModel }
      const partner = partnerOf(tools.directory, client.partnerId)
      const facts = factsFrom(tools, statementOf(client), partner, night.period, read, tools.clock.now())
      parts.push(yield* shortPart(tools, client, facts, written, executionsOf(facts.building, others, fills, settled)))
    }
    const ids = written.models.length === 0 ? new Map() : yield* tools.models.writeAll(written.models, written.pieces)
    return parts.map((part) => withModel(part, ids))
  })

/** The amounts that settled the clients' spot trades, by order and trade; minor units of the currency paid. */
const settledOf = (
  { sql }: JobTools,
  clients: ReadonlyArray<EndOfDayClient>,
  { cuts, fills }: Read
): Reading<ReadonlyMap<string, bigint>> => {
  const ranges = clients.flatMap(({ client: { id } }) => {
    const { start, cut } = cuts.get(id) as ClientCuts
    const isSpot = fills.get(id)?.some(({ family }) => family === "SPOT") === true
    return isSpot ? [{ clientId: id, after: start.postingId, to: cut.postingId }] : []
  })
  return ranges.length === 0 ? Effect.succeed(new Map()) : reading(settledOfClients(sql, ranges))
}

/**
 * Adds the id of its stored model to a client's part. An equal model may have been stored before, and then keeps its id.
 */
const withModel = (part: JobPart, ids: ReadonlyMap<string, number>): JobPart => {
  const { statement } = part
  if (statement === null) return part
  const { model } = statement.filing
  const modelId = ids.get(model.sha256) ?? model.modelId
  return { ...part, statement: { ...statement, filing: { ...statement.filing, model: { ...model, modelId } } } }
}

const shortPart = (
  tools: JobTools,
  client: ClientRow,
  facts: StatementFacts,
  written: WrittenModels,
  reads: ExecutionReads
): Reading<JobPart> =>
  Effect.gen(function* () {
    const { building } = facts
    const plan = yield* planExecutions(building, reads)
    if (plan.rows === 0) return nothingOf(client.id, client.partnerId)
    const built = yield* buildModel(written, yield* tools.newModelId, facts, Effect.succeed(plan))
    if (!built.ok) return failed(client, tooLong)
    const filing = {
      client: building.client,
      period: building.period,
      model: built.model,
      fingerprint: facts.fingerprint
    }
    return { ...nothingOf(client.id, client.partnerId), statement: { filing, before: null } }
  }).pipe(
    Effect.catchTag("TooManyRows", () => Effect.succeed(failed(client, tooLong))),
    Effect.catchDefect((defect) => tools.recordFailure(client, defect))
  )

/** The executions of one client, taken from the rows of the shared read. */
const executionsOf = (
  building: Building,
  others: boolean,
  fills: Fills,
  settled: ReadonlyMap<string, bigint>
): ExecutionReads => {
  const own = fills.get(building.client.clientId) ?? []
  return {
    count: Effect.succeed(own.length),
    events: others ? bookedEvents(building) : Effect.succeed([]),
    fills: (after) => Effect.succeed(own.filter(({ id }) => id > after).slice(0, pageRows)),
    settled: Effect.succeed(settled)
  }
}

/** Collects the models and pieces of a page of clients, so that one write stores all of them. */
class WrittenModels {
  readonly models: Array<NewModel> = []
  readonly pieces: Array<NewPiece> = []

  readonly write = (piece: NewPiece): Effect.Effect<void> => Effect.sync(() => void this.pieces.push(piece))

  readonly finish = (model: NewModel): Effect.Effect<number> =>
    Effect.sync(() => {
      this.models.push(model)
      return model.id
    })

  readonly drop = (modelId: number): Effect.Effect<void> =>
    Effect.sync(() => {
      const kept = this.pieces.filter((piece) => piece.modelId !== modelId)
      this.pieces.splice(0, this.pieces.length, ...kept)
    })
}
