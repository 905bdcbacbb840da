/**
 * Sends the venue's events through the mailboxes into PostgreSQL, without HTTP. Each order event of many accounts books
 * the rows that the end of a contract books. Callers make the same bookings in a closed loop, once alone and once
 * beside the events. It also measures the duration of a flush by the number of its rows.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Exit, Layer, Redacted, Scope, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import type { VenueEvent } from "../../src/machines/venue/VenueEvent.ts"
import { refLetters, type VenueOwner } from "../../src/machines/venue/venueRefs.ts"
import type { VenueOrder } from "../../src/machines/venue/venueObjects.ts"
import { EmbeddedPostgres } from "../../src/runtime/adapters/EmbeddedPostgres.ts"
import { BusinessClock } from "../../src/runtime/engine/clock/BusinessClock.ts"
import { CommitBuilder } from "../../src/runtime/engine/journal/Commit.ts"
import { Journal } from "../../src/runtime/engine/journal/Journal.ts"
import { makeJournalPg } from "../../src/runtime/engine/journal/JournalPg.ts"
import { ActorHost, type Attribution, type Turn } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { makeSealing } from "../../src/runtime/engine/sealing/Sealing.ts"
import { SealingService } from "../../src/runtime/engine/sealing/SealingService.ts"
import { migrate } from "../../src/runtime/migrations/migrate.ts"
import { RowReads } from "../../src/runtime/ports/RowReads.ts"
import { Venue } from "../../src/runtime/ports/Venue.ts"
import { VenueMemory } from "../../src/runtime/ports/VenueMemory.ts"
import type { VenueHandler } from "../../src/runtime/services/venue/VenueHandler.ts"
import { VenueEvents } from "../../src/runtime/services/venue/VenueEvents.ts"
import { LastListing } from "../../src/runtime/services/market/LastListing.ts"
import { VenueLink } from "../../src/runtime/services/venue/VenueLink.ts"
import { type Spread, spreadOf } from "../rounds.ts"

export interface EventFlowPlan {
  readonly dataDirectory: string
  readonly clients: number
  readonly eventsEach: number
  readonly rounds: number
  readonly progress: (line: string) => void
}

export interface EventFlowFindings {
  /** Rows that one booking writes. */
  readonly rowsEach: number
  /** Bookings a second: by callers in a closed loop, by events sorted by account, and by events of mixed accounts. */
  readonly callers: Spread
  readonly grouped: Spread
  readonly mixed: Spread
  /** Latency of a caller's booking, ms: alone, and beside the events of one round. */
  readonly alone: Latency
  readonly beside: Latency
  /** Milliseconds from the submission of this number of rows, eight to a commit, until all commits are durable. */
  readonly flushes: ReadonlyArray<{ readonly rows: number; readonly millis: Spread }>
}

interface Latency {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

const begin = 1_795_000_000_000
const callersAtOnce = 64
const bookingsOfCallers = 10_000
const flushRows = [256, 512, 1_024, 2_048, 3_072, 4_096]
const by: Attribution = { role: "SYSTEM", keyLabel: "bench", requestId: "bench", actor: "system:bench" }
const uidOf = (client: number): string => `BEN-${String(client).padStart(8, "0")}`
const subjectOf = (client: number): string => `client:${client}`

/**
 * Books about the same rows as the end of a contract: the money, its settlement item, the event and its delivery, the
 * audit.
 */
const book = ({ now, state, draft, nextId }: Turn, clientId: number): void => {
  const [txId, postingId, house] = [nextId("transaction"), nextId("posting"), nextId("posting")]
  const tx = { txId, key: `bench:${txId}`, type: "MANUAL", actor: by.actor, reason: null, clientId, partnerId: 1 }
  draft.put("ledgerTransactions", { ...tx, refs: {}, ts: now } as never)
  const posting = { txId, partnerId: 1, currency: "USDC", kind: "cash" }
  draft.put("postings", { ...posting, postingId, account: subjectOf(clientId), clientId, amount: 1n } as never)
  draft.put("postings", { ...posting, postingId: house, account: "manual", clientId: null, amount: -1n } as never)
  const key = `${clientId}\u0000USDC`
  const balance = draft.peek("balances", key) ?? state.get("balances", key)
  const cash = (balance?.cash ?? 0n) + 1n
  draft.put("balances", {
    clientId,
    currency: "USDC",
    partnerId: 1,
    cash,
    reserved: 0n,
    deposited: 0n,
    fromVenue: 0n,
    funding: 0n
  })
  draft.put("events", {
    partnerId: 1,
    seq: draft.nextEventSlot(),
    name: "settlement.item_created",
    clientId,
    data: { clientId, txId, amount: "0.000001" },
    ts: now
  })
  draft.put("audit", {
    id: nextId("audit"),
    ts: now,
    role: by.role,
    keyLabel: by.keyLabel,
    requestId: by.requestId,
    partnerId: 1,
    clientId,
    object: `contract:${txId}`,
    action: "contract.settle",
    before: "OPEN",
    after: "CLOSED",
    reason: null
  })
}
const rowsEach = 6

const handler: VenueHandler = {
  verdict: () => null,
  ended: () => undefined,
  reported: (turn, { id }) => {
    book(turn, id)
    return true
  },
  quoted: null
}

const orderOf = (client: number): VenueOrder => ({
  id: 1,
  ref: `P-${client}`,
  account: uidOf(client),
  symbol: "BTC-USDC-PERP",
  side: "BUY",
  price: "58500",
  qty: "0.001",
  filledQty: "0",
  tif: "IOC",
  reduceOnly: false,
  trigger: null,
  group: null,
  state: "CANCELLED",
  reason: null,
  triggeredAt: null
})

interface World {
  readonly base: Context.Context<
    ActorHost | BusinessClock | Journal | RowReads | PgClient.PgClient | SqlClient.SqlClient
  >
  readonly host: ActorHost["Service"]
  readonly journal: Journal["Service"]
  readonly plan: EventFlowPlan
  /** The last sequence number of every account, and the number of the venue's last event. */
  sequence: number
  number: number
}

const openWorld = (plan: EventFlowPlan): Effect.Effect<World, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const { url } = yield* EmbeddedPostgres.start({ dataDirectory: plan.dataDirectory })
    const admin = PgClient.layer({ url, maxConnections: 1 })
    const onAdmin = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`CREATE DATABASE flow`)
    yield* Effect.provide(onAdmin, admin, { local: true })
    const address = new URL(Redacted.value(url))
    address.pathname = "/flow"
    const own = Redacted.make(address.href)
    const pool = PgClient.layer({ url: own, maxConnections: 8 })
    yield* Effect.provide(migrate, pool, { local: true })
    const sealing = makeSealing({ current: 1, keys: new Map([[1, randomBytes(32)]]) })
    const journal = Layer.effect(
      Journal,
      Effect.flatMap(PgClient.PgClient, (sql) => makeJournalPg({ url: own, sql, sealing, owner: "bench" }))
    )
    const base = yield* Layer.build(
      Layer.mergeAll(ActorHost.layer({ residentLimit: 100_000 }), RowReads.layer).pipe(
        Layer.provideMerge(
          Layer.mergeAll(journal, BusinessClock.layer(0), SealingService.layer(sealing)).pipe(Layer.provideMerge(pool))
        )
      )
    )
    const world = { base, host: Context.get(base, ActorHost), journal: Context.get(base, Journal), plan }
    const make = (id: number) =>
      world.host.dispatch({ subject: subjectOf(id), by, decide: ({ draft }) => draft.put("clients", clientRow(id)) })
    const ids = Array.from({ length: plan.clients }, (_, n) => n + 1)
    yield* Effect.forEach(ids, make, { concurrency: 1_000, discard: true })
    return { ...world, sequence: 0, number: 0 }
  })

const clientRow = (id: number) =>
  ({
    id,
    partnerId: 1,
    shard: id % 1_024,
    state: "ACTIVE",
    version: "1",
    context: {},
    uid: uidOf(id),
    partnerClientRef: `ref-${id}`,
    email: `c${id}@mail.example`,
    displayName: "Client",
    level: "MICA",
    categorization: "RETAIL",
    residencyCountry: "DE",
    onboardingSource: "PARTNER",
    personKey: `person-${id}`,
    createdAt: begin
  }) as never

/** A venue that has published all its events before a reader connects. */
const venueOf = (events: ReadonlyArray<VenueEvent>, last: number) => {
  const memory = new VenueMemory({ now: Date.now })
  const ofAccounts = Map.groupBy(events, ({ fact }) => ("account" in fact ? fact.account : ""))
  const sequenceIn = ({ fact }: VenueEvent) => ("sequence" in fact ? fact.sequence : 0)
  const nothing = { positions: [], orders: [], contracts: [], swaps: [], money: [] }
  const beat = { ...memory.heartbeat(), number: last }
  return Layer.succeed(
    Venue,
    Venue.of({
      ...memory.port(),
      account: (account) =>
        Effect.sync(() => ({
          account,
          sequence: sequenceIn(ofAccounts.get(account)?.at(-1) as VenueEvent),
          ...nothing
        })),
      accountEvents: (account, after) =>
        Effect.sync(() => (ofAccounts.get(account) ?? []).filter((event) => sequenceIn(event) > after)),
      events: () => Stream.make(beat).pipe(Stream.concat(Stream.fromIterable(events)), Stream.concat(Stream.never))
    })
  )
}

/**
 * Runs one round of events, and returns the bookings a second. `mixed`: consecutive events belong to different
 * accounts.
 */
const flow = (world: World, mixed: boolean): Effect.Effect<number> => {
  const { clients, eventsEach } = world.plan
  const from = world.number
  const events = Array.from({ length: clients * eventsEach }, (_, n): VenueEvent => {
    const client = (mixed ? n % clients : Math.floor(n / eventsEach)) + 1
    const sequence = world.sequence + (mixed ? Math.floor(n / clients) : n % eventsEach) + 1
    const fact = { type: "order", account: uidOf(client), sequence, order: orderOf(client) } as const
    return { number: from + n + 1, at: Date.now(), fact }
  })
  world.sequence += eventsEach
  world.number += events.length
  return Effect.scoped(
    Effect.gen(function* () {
      const began = performance.now()
      const layer = VenueEvents.layer(
        Effect.succeed({
          ...(Object.fromEntries(Object.values(refLetters).map((owner) => [owner, handler])) as {
            readonly [O in VenueOwner]: VenueHandler
          }),
          answered: () => undefined,
          unnamedVerdict: () => null,
          unnamed: () => false,
          doubted: () => undefined
        })
      ).pipe(Layer.provide(Layer.mergeAll(venueOf(events, world.number), VenueLink.layer, LastListing.layer)))
      const context = yield* Layer.build(layer)
      const { figures } = Context.get(context, VenueEvents)
      while (figures().mark < world.number) yield* Effect.sleep("5 millis")
      const rate = (events.length / (performance.now() - began)) * 1_000
      // The reader stores its checkpoint before it ends, because the next round begins there.
      yield* Effect.sleep("600 millis")
      return rate
    })
  ).pipe(Effect.provideContext(world.base)) as Effect.Effect<number>
}

/**
 * Runs 64 callers, each with one booking at a time, until `enough` returns true. Returns their latencies and the rate.
 */
const callers = (world: World, enough: (made: number) => boolean) =>
  Effect.gen(function* () {
    const millis: Array<number> = []
    const began = performance.now()
    let next = 0
    const one = Effect.suspend(() => {
      const at = performance.now()
      const client = (next++ % world.plan.clients) + 1
      return Effect.map(
        world.host.dispatch({ subject: subjectOf(client), by, decide: (turn) => book(turn, client) }),
        () => void millis.push(performance.now() - at)
      )
    })
    const loop = Effect.whileLoop({ while: () => !enough(millis.length), body: () => one, step: () => undefined })
    yield* Effect.forEach(Array.from({ length: callersAtOnce }), () => loop, {
      concurrency: "unbounded",
      discard: true
    })
    const rate = (millis.length / (performance.now() - began)) * 1_000
    const sorted = millis.toSorted((one, other) => one - other)
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
    return { rate, latency: { p50: at(0.5), p99: at(0.99), max: at(1) } }
  })

/** Submits this number of rows at once. Returns the milliseconds until all are committed. */
const flush = (world: World, rows: number): Effect.Effect<number> =>
  Effect.callback((resume) => {
    const commits = Array.from({ length: Math.floor(rows / 8) }, () => {
      const draft = new CommitBuilder()
      for (let n = 0; n < 8; n++) {
        const id = world.journal.nextId("audit")
        draft.put("audit", {
          id,
          ts: begin,
          role: by.role,
          keyLabel: by.keyLabel,
          requestId: by.requestId,
          partnerId: 1,
          clientId: 1,
          object: `contract:${id}`,
          action: "contract.settle",
          before: "OPEN",
          after: "CLOSED",
          reason: null
        })
      }
      return draft.build(null, null)
    })
    const began = performance.now()
    let left = commits.length
    for (const commit of commits) {
      world.journal.submit(commit, () => {
        if (--left === 0) resume(Effect.succeed(performance.now() - began))
      })
    }
  })

const median = (values: ReadonlyArray<number>): number => spreadOf(values).median

export const measureEventFlow = async (plan: EventFlowPlan): Promise<EventFlowFindings> => {
  const measured = Effect.gen(function* () {
    const world = yield* openWorld(plan)
    const rounds = Array.from({ length: plan.rounds })
    yield* callers(world, (made) => made >= bookingsOfCallers)
    const flushes: Array<{ readonly rows: number; readonly millis: Spread }> = []
    for (const rows of flushRows) {
      const times = yield* Effect.forEach(Array.from({ length: 9 }), () =>
        Effect.delay(
          Effect.suspend(() => flush(world, rows)),
          50
        )
      )
      flushes.push({ rows, millis: spreadOf(times) })
      plan.progress(`${rows} rows: ${median(times).toFixed(1)} ms`)
    }
    const alone = yield* Effect.forEach(rounds, () => callers(world, (made) => made >= bookingsOfCallers))
    plan.progress(`callers: ${median(alone.map(({ rate }) => rate)).toFixed(0)} bookings a second`)
    const grouped = yield* Effect.forEach(rounds, () => flow(world, false))
    plan.progress(`events, account by account: ${grouped.map((rate) => rate.toFixed(0)).join(", ")} a second`)
    const mixed = yield* Effect.forEach(rounds, () => flow(world, true))
    plan.progress(`events, mixed: ${mixed.map((rate) => rate.toFixed(0)).join(", ")} a second`)
    let flowing = true
    const [, beside] = yield* Effect.all(
      [
        Effect.ensuring(
          flow(world, true),
          Effect.sync(() => (flowing = false))
        ),
        callers(world, () => !flowing)
      ],
      { concurrency: 2 }
    )
    return {
      rowsEach,
      callers: spreadOf(alone.map(({ rate }) => rate)),
      grouped: spreadOf(grouped),
      mixed: spreadOf(mixed),
      alone: (alone.at(-1) as (typeof alone)[number]).latency,
      beside: beside.latency,
      flushes
    }
  })
  const scope = await Effect.runPromise(Scope.make())
  try {
    return await Effect.runPromise(Effect.provideService(measured, Scope.Scope, scope))
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
