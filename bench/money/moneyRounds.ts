/**
 * Compares money writes with plain SQL that does the same on the same PostgreSQL server: deposits filed and confirmed,
 * withdrawals requested and cancelled, settlement reports of 500 items, and the settlement summary (doc 3). Slices
 * alternate after a warm-up of each; after every slice the books are checked.
 */
import { Child } from "../child.ts"
import { makeReferenceDatabase, onDatabase } from "../reference/database.ts"
import { type Spread, spreadOf } from "../rounds.ts"
import { type RunningService, startService } from "../service.ts"
import { type BenchPartner, createPartner, onboardClients } from "../setup.ts"
import { checkPlainMoney, checkServiceMoney, type Done } from "./books.ts"
import {
  bulkEntries,
  type MoneyResult,
  type MoneySlice,
  type PlainMoneyQuestion,
  type PlainMoneyResult,
  type WrittenKind
} from "./protocol.ts"
import { measureSummary, type SummaryFindings } from "./summary.ts"

export interface MoneyRow {
  readonly what: WrittenKind
  readonly connections: number
  readonly service: MoneySide
  readonly plain: MoneySide
  readonly plainConcurrency: number
}

export interface MoneySide {
  readonly rate: Spread
  readonly p50: Spread
  readonly p99: Spread
}

export interface MoneyFindings {
  readonly rows: ReadonlyArray<MoneyRow>
  readonly summary: ReadonlyArray<SummaryFindings>
  readonly done: Done
}

export interface MoneyPlan {
  readonly dataDirectory: string
  readonly clients: number
  readonly rounds: number
  readonly sliceMillis: number
  readonly warmMillis: number
  /** Reports of 500 items per slice. */
  readonly bulkReports: number
  readonly summarySizes: ReadonlyArray<number>
  readonly progress: (line: string) => void
}

interface World {
  readonly service: RunningService
  readonly broker: BenchPartner
  readonly brokerClients: ReadonlyArray<number>
  readonly custodian: BenchPartner
  readonly custodianClients: ReadonlyArray<number>
  readonly plainUrl: string
  readonly load: Child<MoneySlice, MoneyResult>
  readonly plain: Child<PlainMoneyQuestion, PlainMoneyResult>
  /** Unreported items, one list for each slice. */
  readonly items: Array<ReadonlyArray<number>>
  readonly done: { readonly service: Done; readonly plain: Done }
  slices: number
}

const connectionsOf = { deposits: 64, withdrawals: 64, bulk: 4 } as const
const plainConcurrency = { deposits: 8, withdrawals: 8, bulk: 4 } as const
const none = (): Done => ({ deposits: 0, withdrawals: 0, bulk: 0 })

const ask = (world: World, kind: MoneySlice["kind"], millis: number, itemIds: ReadonlyArray<number>) => {
  const ofBroker = kind === "deposits" || kind === "withdrawals"
  const { service, broker, custodian } = world
  return world.load.ask({
    kind,
    port: service.port,
    ca: service.ca,
    partnerKey: (ofBroker ? broker : custodian).partnerKey,
    operatorKey: service.operatorKey,
    clientIds: ofBroker ? world.brokerClients : world.custodianClients,
    itemIds,
    search: "",
    connections: kind === "bulk" ? connectionsOf.bulk : 64,
    millis,
    tag: `m${++world.slices}`
  })
}

/** Makes items by corrections of the service. The plain side gets copies of their rows. */
const makeItems = async (world: World, slices: number, size: number): Promise<void> => {
  const count = slices * size
  const made = await ask(
    world,
    "owe",
    600_000,
    Array.from({ length: count }, () => 0)
  )
  if (made.errors > 0) throw new Error(`a correction failed: ${made.firstError}`)
  const rows = await onDatabase(world.service.databaseUrl, (from) =>
    from
      .query<{ readonly all: string }>("SELECT json_agg(t ORDER BY id)::text AS all FROM settlement_items t")
      .then(({ rows: [row] }) => row?.all ?? "[]")
  )
  await onDatabase(world.plainUrl, async (to) => {
    for (const event of ["delete", "insert", "truncate", "update"])
      await to.query(`DROP TRIGGER IF EXISTS settlement_items_total_${event} ON settlement_items`)
    await to.query("INSERT INTO settlement_items SELECT * FROM json_populate_recordset(NULL::settlement_items, $1)", [
      rows
    ])
  })
  const ids = (JSON.parse(rows) as ReadonlyArray<{ readonly id: number }>).map(({ id }) => id)
  if (ids.length !== count) throw new Error(`${ids.length} items were made, ${count} asked for`)
  for (let n = 0; n < slices; n++) world.items.push(ids.slice(n * size, (n + 1) * size))
}

interface Slice {
  readonly rate: number
  readonly p50Millis: number
  readonly p99Millis: number
}

const runService = async (
  world: World,
  kind: WrittenKind,
  millis: number,
  itemIds: ReadonlyArray<number>
): Promise<Slice> => {
  const result = await ask(world, kind, millis, itemIds)
  if (result.errors > 0) throw new Error(`${result.errors} requests failed, the first one with: ${result.firstError}`)
  world.done.service[kind] += result.done
  await checkServiceMoney(world.service.databaseUrl, world.done.service)
  return { ...result, rate: (result.rate * result.done) / Math.max(1, result.acknowledged) }
}

const runPlain = async (
  world: World,
  kind: WrittenKind,
  millis: number,
  itemIds: ReadonlyArray<number>
): Promise<Slice> => {
  const clientIds = kind === "bulk" ? world.custodianClients : world.brokerClients
  const concurrency = plainConcurrency[kind]
  const tag = `p${++world.slices}`
  const result = await world.plain.ask({
    kind,
    databaseUrl: world.plainUrl,
    concurrency,
    millis,
    clientIds,
    itemIds,
    tag
  })
  world.done.plain[kind] += result.done
  await checkPlainMoney(world.plainUrl, world.done.plain)
  return result
}

const sideOf = (slices: ReadonlyArray<Slice>): MoneySide => ({
  rate: spreadOf(slices.map(({ rate }) => rate)),
  p50: spreadOf(slices.map(({ p50Millis }) => p50Millis)),
  p99: spreadOf(slices.map(({ p99Millis }) => p99Millis))
})

const measureRow = async (world: World, plan: MoneyPlan, what: WrittenKind): Promise<MoneyRow> => {
  const service: Array<Slice> = []
  const plain: Array<Slice> = []
  for (let round = 0; round <= plan.rounds; round++) {
    const millis = what === "bulk" ? 600_000 : round === 0 ? plan.warmMillis : plan.sliceMillis
    const items = what === "bulk" ? (world.items.shift() ?? []) : []
    const own = await runService(world, what, millis, items)
    const other = await runPlain(world, what, millis, items)
    if (round === 0) continue
    service.push(own)
    plain.push(other)
    plan.progress(`${what}: service ${own.rate.toFixed(0)}/s, plain SQL ${other.rate.toFixed(0)}/s`)
  }
  return {
    what,
    connections: connectionsOf[what],
    service: sideOf(service),
    plain: sideOf(plain),
    plainConcurrency: plainConcurrency[what]
  }
}

const makeWorld = async (service: RunningService, plan: MoneyPlan): Promise<World> => {
  const broker = await createPartner(service, "MONEYB", "BROKER")
  const custodian = await createPartner(service, "MONEYP")
  const ofBroker = await onboardClients(service, broker, plan.clients, "moneyb")
  const ofCustodian = await onboardClients(service, custodian, plan.clients, "moneyp")
  return {
    service,
    broker,
    brokerClients: ofBroker.clientIds,
    custodian,
    custodianClients: ofCustodian.clientIds,
    plainUrl: await makeReferenceDatabase(service.databaseUrl, "reference_money"),
    load: new Child("money/load.ts"),
    plain: new Child("money/plainSql.ts"),
    items: [],
    done: { service: none(), plain: none() },
    slices: 0
  }
}

export const measureMoney = async (plan: MoneyPlan): Promise<MoneyFindings> => {
  const service = await startService(plan.dataDirectory)
  const world = await makeWorld(service, plan)
  try {
    const rows = [await measureRow(world, plan, "deposits"), await measureRow(world, plan, "withdrawals")]
    await makeItems(world, plan.rounds + 1, plan.bulkReports * bulkEntries)
    rows.push(await measureRow(world, plan, "bulk"))
    // This step is the last one, because items without postings make later checks of the books fail.
    const holder = await createPartner(service, "MONEYS")
    const [held = 0] = (await onboardClients(service, holder, 1, "moneys")).clientIds
    const sizes = plan.summarySizes
    const summary = await measureSummary(service, holder, held, { ...plan, sizes, millis: plan.warmMillis })
    return { rows, summary, done: world.done.service }
  } finally {
    await world.load.stop()
    await world.plain.stop()
    await service.stop()
  }
}
