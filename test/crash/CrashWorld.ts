/**
 * The parts of a crash run: a new data directory, the service as a process, a partner under PARTNER custody that is set
 * up through the operator surface, and the bot, whose record of acknowledged requests survives every crash.
 */
import { Effect, Exit, Redacted, Schema, Scope } from "effect"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { makePartnerClient, type PartnerClient } from "../../simulator/partner/PartnerClient.ts"
import { PartnerBot } from "../../simulator/partner/PartnerBot.ts"
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { makeTally, sendUntilAcknowledged } from "../../simulator/partner/sendUntilAcknowledged.ts"
import { TraderBot } from "../../simulator/partner/TraderBot.ts"
import { tradedPerp } from "../../simulator/partner/TradeRequest.ts"
import { EmbeddedPostgres } from "../../src/runtime/adapters/EmbeddedPostgres.ts"
import { isRunning } from "../../src/runtime/adapters/postmasterPid.ts"
import { Carriers } from "./Carriers.ts"
import { clusterOf, livingPostmaster } from "./postmaster.ts"
import { logFileOf, type ServiceOptions, type ServiceProcess, startService } from "./ServiceProcess.ts"

export interface CrashWorldOptions {
  readonly seed: number
  /** The number of requests per second that the bot tries to send. */
  readonly rate: number
  readonly workers: number
  /** True: the database is a separate server, so that two services can share it. */
  readonly ownDatabase?: boolean
  /** The number of clients that trade; none if absent. */
  readonly traders?: number
  /** True: the market falls with each fault, and closes out clients whose positions are too large. */
  readonly falling?: boolean
  /** The allowed webhook hosts of the first service. */
  readonly webhookHosts?: ReadonlyArray<string>
}

type StartOptions = Pick<ServiceOptions, "killAt" | "webhookHosts">

export interface CrashWorld {
  readonly dataDir: string
  readonly cluster: string
  readonly random: SeededRandom
  readonly bot: PartnerBot
  readonly traders: TraderBot
  /** Null: the market does not fall. */
  readonly carriers: Carriers | null
  /** Sets the price of BTC at the venue, whole USDC, and holds it. */
  readonly price: (to: number) => Effect.Effect<void>
  readonly client: PartnerClient
  readonly tag: string
  /** The service that receives requests now. */
  readonly service: () => ServiceProcess
  /** Starts a service on the same data, which receives requests from now on. */
  readonly start: (options?: StartOptions) => Effect.Effect<ServiceProcess>
  /** GET of the operator surface, with its data. */
  readonly operatorRead: (path: string) => Effect.Effect<unknown>
  /** The operator surface, with the administrator's key. */
  readonly operator: PartnerClient
  /** Makes another partner under BROKER custody, whose deposits and withdrawals finance decides, with one client. */
  readonly brokerPartner: (code: string) => Effect.Effect<PartnerClient>
}

/**
 * The number of clients at the start: enough that every worker finds a client without a request in flight. Rounds add
 * some more.
 */
const firstClients = 64
/** The first price of BTC, whole USDC, and the orders per second: calls of one client are sequential. */
export const startPrice = 60_000
const orderRate = 40
const prefix = "brokerage-crash-"
const tag = "crash"
const traderTag = "trade"
const code = "CRASH"

/** A crash world with a running service. The end of the scope ends all its processes and removes its files. */
export const makeCrashWorld = Effect.fnUntraced(function* (
  options: CrashWorldOptions
): Effect.fn.Return<CrashWorld, never, Scope.Scope> {
  const random = new SeededRandom(options.seed)
  const scope = yield* Effect.scope
  const dataDir = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), prefix))),
    (folder) => Effect.sync(() => removeWorld(folder))
  )
  const cluster = clusterOf(dataDir)
  yield* Effect.addFinalizer(() => endPostmaster(cluster))
  const databaseUrl =
    options.ownDatabase === true
      ? Redacted.value((yield* Effect.orDie(EmbeddedPostgres.start({ dataDirectory: join(dataDir, "postgres") }))).url)
      : undefined
  let current: ServiceProcess | null = null
  const service = () => {
    if (current === null) throw new Error("no service was started")
    return current
  }
  const start = (more: StartOptions = {}) =>
    startService({ dataDir, ...more, ...(databaseUrl === undefined ? {} : { databaseUrl }) }).pipe(
      Scope.provide(scope),
      Effect.tap((started) => Effect.sync(() => (current = started))),
      Effect.orDie
    )
  const first = yield* start(options.webhookHosts === undefined ? {} : { webhookHosts: options.webhookHosts })
  const ca = readFileSync(first.caFile, "utf8")
  // Longer than the service's timeout for a database that does not answer, after which it answers 503.
  const shared = { origin: () => service().url, ca, timeoutMillis: 15_000 }
  const operatorKey = Redacted.make(readFileSync(first.operatorKeyFile, "utf8").trim())
  const operator = yield* makePartnerClient({
    ...shared,
    key: operatorKey,
    connections: options.workers,
    timeoutMillis: 60_000
  })
  const key = yield* setUpPartner(operator, { code, custody: "PARTNER", collateralAsset: "EURD", sandbox: true })
  const client = yield* makePartnerClient({ ...shared, key: Redacted.make(key), connections: options.workers * 2 })
  const bot = new PartnerBot({
    client,
    random: random.fork(),
    tag,
    clients: firstClients,
    rate: options.rate,
    workers: options.workers
  })
  let btc = startPrice
  const price = (to: number): Effect.Effect<void> =>
    Effect.map(operatorCall(operator, `/sim/venue/price`, { symbol: tradedPerp, price: String(to) }), () => {
      btc = to
    })
  const traders = new TraderBot({
    client,
    random: random.fork(),
    tag: traderTag,
    traders: options.traders ?? 0,
    rate: orderRate,
    price: () => btc
  })
  if (options.traders !== undefined) {
    yield* price(startPrice)
    yield* traders.admit
  }
  const operatorRead = (path: string) => operatorCall(operator, path)
  return {
    dataDir,
    cluster,
    random,
    bot,
    traders,
    carriers: options.falling === true ? new Carriers({ client, random: random.fork(), operatorRead }) : null,
    price,
    client,
    tag,
    service,
    start,
    operatorRead,
    operator,
    brokerPartner: (other) =>
      Effect.flatMap(
        setUpPartner(operator, { code: other, custody: "BROKER", collateralAsset: "", sandbox: false }),
        (own) =>
          Scope.provide(
            makePartnerClient({ ...shared, key: Redacted.make(own), connections: options.workers * 2 }),
            scope
          )
      )
  }
})

interface PartnerTerms {
  readonly code: string
  readonly custody: "PARTNER" | "BROKER"
  readonly collateralAsset: string
  readonly sandbox: boolean
}

/** Creates a partner with approved reliance, a TRADE key and a rate limit that no run reaches. Returns the key. */
const setUpPartner = Effect.fnUntraced(function* (operator: PartnerClient, { code, ...terms }: PartnerTerms) {
  yield* operatorCall(operator, "/partners", {
    code,
    name: "Crash Partner",
    legalName: "Crash Partner AG",
    country: "DE",
    licence: "MICA_CASP",
    ...terms
  })
  yield* operatorCall(operator, `/partners/${code}/reliance`, { status: "APPROVED", reason: "crash run" })
  yield* operatorCall(operator, `/partners/${code}/limits`, { read: 1_000_000_000, trade: 1_000_000_000 })
  const issued = yield* operatorCall(operator, `/partners/${code}/keys`, { label: "crash run", scope: "TRADE" })
  return Schema.decodeUnknownSync(Schema.Struct({ key: Schema.String }))(issued).key
})

const Data = Schema.fromJsonString(Schema.Struct({ code: Schema.Literal(0), data: Schema.Unknown }))

const operatorCall = Effect.fnUntraced(function* (operator: PartnerClient, path: string, body?: object) {
  const call = { path: `/operator/v1${path}`, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  const answer = yield* sendUntilAcknowledged(
    operator,
    { method: body === undefined ? "GET" : "POST", ...call },
    new SeededRandom(0),
    makeTally()
  )
  if (answer.status >= 300)
    return yield* Effect.die(new Error(`${path} answers ${answer.status}: ${answer.body.toString()}`))
  return Schema.decodeUnknownSync(Data)(answer.body.toString()).data
})

/** Ends the database of a service that was killed last: the supervisor keeps it running on purpose. */
const endPostmaster = (cluster: string): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (const signal of ["SIGINT", "SIGKILL"] as const) {
      const pid = livingPostmaster(cluster)
      if (pid === null) return
      process.kill(pid, signal)
      for (let round = 0; round < 200 && isRunning(pid); round++) yield* Effect.sleep(25)
    }
  })

const removeWorld = (dataDir: string): void => {
  rmSync(dataDir, { recursive: true, force: true })
  rmSync(logFileOf(dataDir), { force: true })
}

/** Runs an effect in a crash world of its own, whose scope is closed in any case. */
export const withCrashWorld = <A>(
  options: CrashWorldOptions,
  use: (world: CrashWorld) => Effect.Effect<A>
): Effect.Effect<A> =>
  Effect.acquireUseRelease(
    Scope.make(),
    (scope) => Effect.flatMap(Scope.provide(makeCrashWorld(options), scope), use),
    (scope) => Scope.close(scope, Exit.void)
  )
