/**
 * One round of a crash run: load, a fault, recovery, retries with the same keys, and then a comparison of the partner's
 * records with the service's books (architecture, Proof; SC-PLT-04, SC-PLT-05).
 */
import { Effect, Fiber, Schema } from "effect"
import { type AuditReport, auditPartner } from "../../simulator/partner/PartnerAudit.ts"
import { auditTrades, type TradeAuditReport } from "../../simulator/partner/TradeAudit.ts"
import type { Tally } from "../../simulator/partner/sendUntilAcknowledged.ts"
import type { Carriers } from "./Carriers.ts"
import { type CrashWorld, startPrice } from "./CrashWorld.ts"
import { auditPatience, bounded, patience, until, untilFound } from "./patience.ts"
import { type Blow, killPointOf, restartToDieAt, strike, type StrikeOptions } from "./strike.ts"

/** The range of BTC prices, whole USDC, within which the traders' market moves. */
const [lowest, highest] = [59_000, 61_000]
const [deepest, low] = [50_000, 54_000]
/** The number of further clients with too large positions in each round of a falling market. */
const carriersARound = 3

export interface RoundReport {
  readonly blow: Blow
  /** Requests acknowledged in this round before the fault, and requests in flight when it happened. */
  readonly before: number
  readonly underWay: number
  /** From the fault (or the end of an outage) to the first acknowledgement of the recovered system, ms. */
  readonly recoveryMillis: number
  /** From the start of the new process to its ready line; null when the service was not restarted. */
  readonly readyMillis: number | null
  /** Requests that were executed, but whose answer the fault lost. The replay revealed them. */
  readonly foundAgain: number
  /** 503 answers of this round. */
  readonly unavailable: number
  readonly audit: AuditReport
  readonly trade: TradeAuditReport
  /** All violations as sentences; empty if there is none. */
  readonly faults: ReadonlyArray<string>
}

export const crashRound = Effect.fnUntraced(function* (
  world: CrashWorld,
  blow: Blow,
  options: StrikeOptions
): Effect.fn.Return<RoundReport> {
  const { bot, traders, random, carriers } = world
  if (carriers !== null) {
    yield* world.price(startPrice)
    yield* carriers.add(carriersARound)
  }
  const next = () => (carriers === null ? random.between(lowest, highest) : random.between(deepest, low))
  const faults: Array<string> = []
  const earlier = {
    acknowledged: bot.acknowledged,
    contradictions: bot.journal.contradictions.length,
    trades: traders.journal.entries.length,
    tradeContradictions: traders.journal.contradictions.length,
    tally: { ...bot.tally },
    tradeTally: { ...traders.tally }
  }
  bot.addClients(random.between(3, 8))
  const point = killPointOf(blow)
  if (point !== null) faults.push(...(yield* restartToDieAt(world, point)))
  const load = yield* Effect.forkChild(Effect.all([bot.work, traders.work], { concurrency: 2, discard: true }))
  if (point === null) {
    const warm = earlier.acknowledged + random.between(50, 300)
    yield* until("the load to flow", () => bot.acknowledged >= warm)
    yield* Effect.sleep(random.between(0, 40))
    // Orders that rest near the market are filled during the fault.
    if (traders.traders.length > 0) yield* world.price(next())
  }
  const struck = yield* strike(world, blow, options)
  if (carriers !== null) yield* world.price(next())
  const firstAfter = () => bot.journal.entries.slice(earlier.acknowledged).find(({ at }) => at >= struck.backAt)
  yield* until("the first acknowledgement after the recovery", () => firstAfter() !== undefined)
  const enough = bot.acknowledged + random.between(50, 120)
  yield* until("the load to flow again", () => bot.acknowledged >= enough)
  bot.stopPlanning()
  traders.stopPlanning()
  const ended = yield* Effect.timeoutOption(Fiber.join(load), patience)
  if (ended._tag === "None")
    faults.push(`${bot.open.size} requests of ordinary clients, or some of traders, were still not acknowledged.`)
  yield* Fiber.interrupt(load)
  if (carriers !== null) yield* closedOut(carriers, faults)
  const trade = yield* tradeFaults(world, faults)
  const audit = yield* bounded("the audit", auditPartner({ ...world, journal: bot.journal }), auditPatience)
  faults.push(...struck.faults, ...audit.lost, ...audit.doubled, ...audit.wrong)
  faults.push(...bot.journal.contradictions.slice(earlier.contradictions), ...tallyFaults(earlier.tally, bot.tally))
  faults.push(...traders.journal.contradictions.slice(earlier.tradeContradictions))
  faults.push(...tallyFaults(earlier.tradeTally, traders.tally))
  faults.push(...(yield* bounded("ledger verify", ledgerFaults(world))))
  const entries = bot.journal.entries.slice(earlier.acknowledged)
  const answers = [...entries, ...traders.journal.entries.slice(earlier.trades)]
  return {
    blow,
    audit,
    trade,
    faults,
    underWay: struck.underWay,
    readyMillis: struck.readyMillis,
    before: entries.filter(({ at }) => at < struck.at).length,
    foundAgain: answers.filter(({ foundAgain }) => foundAgain).length,
    recoveryMillis: (firstAfter()?.at ?? struck.backAt) - struck.overAt,
    unavailable: bot.tally.unavailable - earlier.tally.unavailable
  }
})

/** Waits until all clients with too large positions are closed out, and checks the results. */
const closedOut = Effect.fnUntraced(function* (carriers: Carriers, faults: Array<string>) {
  const flat = yield* Effect.exit(untilFound("carriers to be closed out", carriers.areFlat))
  if (flat._tag === "Failure") faults.push("Not everybody who carried too much was closed out.")
  faults.push(...(yield* carriers.faults))
})

/** Waits until service and venue agree, and checks the answers of the traders' routes. */
const tradeFaults = Effect.fnUntraced(function* (world: CrashWorld, faults: Array<string>) {
  const { client, random, traders } = world
  if (traders.traders.length > 0) {
    const agreed = yield* Effect.exit(untilFound("service and venue to agree", Effect.map(agreement(world), isNull)))
    if (agreed._tag === "Failure") faults.push(`sim verify: ${yield* agreement(world)}`)
    const breaks = (yield* world.operatorRead("/breaks")) as { readonly breaks: ReadonlyArray<unknown> }
    faults.push(...breaks.breaks.map((each) => `A break is open: ${JSON.stringify(each)}`))
  }
  const options = { client, random, journal: traders.journal, traders: traders.traders }
  const trade = yield* bounded("the audit of orders", auditTrades(options), auditPatience)
  faults.push(...trade.lost, ...trade.doubled, ...trade.wrong)
  return trade
})

const isNull = (first: string | null): boolean => first === null
const VenueProof = Schema.Struct({ ok: Schema.Boolean, first: Schema.NullOr(Schema.String) })

/** The first fault that `sim verify` finds: a difference, or a call in flight. Null: none. */
const agreement = (world: CrashWorld): Effect.Effect<string | null> =>
  Effect.map(world.operatorRead("/sim/verify"), (data) => {
    const { ok, first } = Schema.decodeUnknownSync(VenueProof)(data)
    return ok ? null : (first ?? "it fails without a reason")
  })

const tallyFaults = (earlier: Tally, now: Tally): ReadonlyArray<string> => {
  const bare = now.unavailableWithoutRetryAfter - earlier.unavailableWithoutRetryAfter
  const errors = now.serverErrors - earlier.serverErrors
  return [
    ...(bare > 0 ? [`${bare} answers 503 came without Retry-After.`] : []),
    ...(errors > 0 ? [`${errors} answers were server errors other than 502 and 503.`] : [])
  ]
}

const LedgerProof = Schema.Struct({
  ok: Schema.Boolean,
  checks: Schema.Array(Schema.Struct({ name: Schema.String, ok: Schema.Boolean, detail: Schema.NullOr(Schema.String) }))
})

/** `ledger verify` through the operator surface. */
export const ledgerFaults = (world: CrashWorld): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(world.operatorRead("/ledger/verify"), (data) => {
    const { ok, checks } = Schema.decodeUnknownSync(LedgerProof)(data)
    const broken = checks.filter((check) => !check.ok).map(({ name, detail }) => `ledger verify: ${name}: ${detail}.`)
    return ok === (broken.length === 0) && checks.length > 0 ? broken : ["ledger verify contradicts itself.", ...broken]
  })
