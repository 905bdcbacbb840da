/**
 * A service without HTTP on a private database: engine, endpoints and deliveries, with the workers that a test starts,
 * and receivers on real TLS sockets of 127.0.0.1 with a local certificate authority.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Exit, Layer, References, Scope } from "effect"
import { randomBytes } from "node:crypto"
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:https"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { type AddressInfo, createServer as createTcpServer } from "node:net"
import { join } from "node:path"
import type { Duplex } from "node:stream"
import type { EventName } from "../../../src/machines/Effects.ts"
import { LocalAuthority, type ServerCertificate } from "../../../src/runtime/adapters/LocalAuthority.ts"
import { ActorHost, type Attribution, type Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../../src/runtime/engine/clock/BusinessClock.ts"
import { Journal } from "../../../src/runtime/engine/journal/Journal.ts"
import { makeJournalPg } from "../../../src/runtime/engine/journal/JournalPg.ts"
import { queueDelivery } from "../../../src/runtime/effects/queueDelivery.ts"
import { SealingService } from "../../../src/runtime/engine/sealing/SealingService.ts"
import { columnList, decodeRow } from "../../../src/runtime/engine/journal/SubjectLoader.ts"
import { Directory } from "../../../src/runtime/services/partners/Directory.ts"
import { RowReads } from "../../../src/runtime/ports/RowReads.ts"
import { defaultSettings, Settings } from "../../../src/runtime/Settings.ts"
import { catalogue, type TableName, type Tables } from "../../../src/runtime/tables/Catalogue.ts"
import type { TableSpec } from "../../../src/runtime/tables/Table.ts"
import type { DeliveryRow } from "../../../src/runtime/tables/webhook.ts"
import { DeliveryStore } from "../../../src/runtime/ports/DeliveryStore.ts"
import { DeliveryWorker, type DeliveryWorkerOptions } from "../../../src/runtime/services/webhooks/DeliveryWorker.ts"
import {
  HttpsWebhookSender,
  type HttpsWebhookSenderOptions
} from "../../../src/runtime/services/webhooks/HttpsWebhookSender.ts"
import { type Resolve, WebhookAddresses } from "../../../src/runtime/services/webhooks/WebhookAddresses.ts"
import { WebhookEndpoints } from "../../../src/runtime/services/webhooks/WebhookEndpoints.ts"
import { WebhookSenderMemory } from "../../../src/runtime/ports/WebhookSenderMemory.ts"
import { makeTestDatabase } from "../../support/TestDatabase.ts"
import { sampleRows, testSealing } from "../engine/fixtures.ts"

const by: Attribution = { role: "SYSTEM", keyLabel: "test", requestId: "test", actor: "system:test" }

export const secretOf = (n: number): string => `whs_${String(n).padStart(43, "0")}`

export interface WorldOptions {
  /** Replaces DNS. */
  readonly resolve?: Resolve
  /** Hosts exempt from the public-host rule; by default 127.0.0.1. */
  readonly exempt?: ReadonlyArray<string>
}

export interface WorkerOptions extends HttpsWebhookSenderOptions, Partial<DeliveryWorkerOptions> {
  /** Wraps the store of the worker. */
  readonly store?: (real: DeliveryStore["Service"]) => DeliveryStore["Service"]
  /** Receives in memory instead of over the network. */
  readonly receive?: Parameters<typeof WebhookSenderMemory.layer>[0]
  /** Whether internal commands wait; replaces the host's value. */
  readonly pressed?: () => boolean
}

/** Waits for a fact; one that does not come true in time is a defect with a name. */
export const until = async <A>(what: string, look: () => A | false | undefined | Promise<A | false>): Promise<A> => {
  const giveUpAt = Date.now() + 25_000
  for (;;) {
    const found = await look()
    if (found !== false && found !== undefined) return found
    if (Date.now() > giveUpAt) throw new Error(`waited in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

export const startWorld = async (options: WorldOptions = {}) => {
  const folder = mkdtempSync(join(tmpdir(), "brokerage-webhooks-"))
  const database = await makeTestDatabase()
  const tls = await Effect.runPromise(LocalAuthority.ensure({ dataDirectory: folder, host: "127.0.0.1" }))
  const scope = await Effect.runPromise(Scope.make())
  const pool = PgClient.layer({ url: database.url, maxConnections: 6 })
  const journal = Layer.effect(
    Journal,
    Effect.flatMap(PgClient.PgClient, (sql) =>
      makeJournalPg({ url: database.url, sql, sealing: testSealing, owner: `test:${randomBytes(6).toString("hex")}` })
    )
  )
  const base = Layer.mergeAll(
    SealingService.layer(testSealing),
    Settings.layer({
      ...defaultSettings,
      sandbox: true,
      webhookHosts: new Set(options.exempt ?? ["127.0.0.1"]),
      webhookAuthority: tls.ca
    }),
    BusinessClock.layer(0),
    journal
  ).pipe(Layer.provideMerge(pool))
  const world = WebhookEndpoints.layer.pipe(
    Layer.provideMerge(Directory.layer),
    Layer.provideMerge(RowReads.layer),
    Layer.provideMerge(ActorHost.layer({ residentLimit: 100 })),
    Layer.provideMerge(WebhookAddresses.layer(options.resolve === undefined ? {} : { resolve: options.resolve })),
    Layer.provideMerge(DeliveryStore.layer),
    Layer.provideMerge(base),
    Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
  )
  const context = await Effect.runPromise(Layer.buildWithScope(world, scope))
  type Services = Layer.Success<typeof world>
  const run = <A, E>(effect: Effect.Effect<A, E, Services>): Promise<A> =>
    Effect.runPromise(Effect.provideContext(effect, context))
  const clock = Context.get(context, BusinessClock)

  /** Runs a decision in a partner's mailbox. */
  const decide = <A>(partnerId: number, decision: (turn: Turn) => A): Promise<A> =>
    run(Effect.flatMap(ActorHost, (host) => host.dispatch({ subject: `partner:${partnerId}`, by, decide: decision })))

  /** Registers this endpoint for the partner, which the first call creates. */
  const register = (partnerId: number, url: string, over: Partial<Tables["webhookEndpoints"]> = {}) =>
    decide(partnerId, (turn) => {
      if (turn.state.one("partners") === undefined)
        turn.draft.put("partners", { ...sampleRows(partnerId).partners, id: partnerId })
      turn.draft.put("webhookEndpoints", {
        partnerId,
        state: "ACTIVE",
        version: "1",
        context: { partnerId, sweepFrom: turn.now },
        url,
        secret: secretOf(partnerId),
        createdAt: turn.now,
        updatedAt: turn.now,
        ...over
      })
    })

  /** Queues deliveries in one commit, like their causes. Returns their ids. */
  const queue = (partnerId: number, count = 1, name: EventName = "webhook.test"): Promise<ReadonlyArray<number>> =>
    decide(partnerId, (turn) => {
      const endpoint = turn.state.one("webhookEndpoints") ?? null
      return Array.from({ length: count }, (_, n) => {
        const id = queueDelivery(turn, { partnerId, clientId: null, endpoint }, { name, data: { n } })
        if (id === null) throw new Error("nothing was queued")
        return id
      })
    })

  const query = <Row extends object>(text: string, values: ReadonlyArray<unknown> = []) =>
    run(Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe<Row>(text, values)))

  const rows = async <T extends TableName>(table: T, where = "true"): Promise<ReadonlyArray<Tables[T]>> => {
    const spec = catalogue[table] as unknown as TableSpec
    const found = await query<Record<string, unknown>>(
      `SELECT ${columnList(spec)} FROM ${spec.sqlName} WHERE ${where} ORDER BY 1`
    )
    return found.map((raw) => decodeRow(spec, raw, testSealing) as Tables[T])
  }
  const delivery = async (id: number): Promise<DeliveryRow> => {
    const [row] = await rows("webhookDeliveries", `id = ${id}`)
    if (row === undefined) throw new Error(`delivery ${id} is not stored`)
    return row
  }

  let workers = 0
  /** A separate worker, as of another process. */
  const startWorker = async (given: WorkerOptions = {}) => {
    const own = await Effect.runPromise(Scope.make())
    const real = Context.get(context, DeliveryStore)
    const host = Context.get(context, ActorHost)
    const ports = Layer.mergeAll(
      Layer.succeed(ActorHost, given.pressed === undefined ? host : ActorHost.of({ ...host, pressed: given.pressed })),
      Layer.succeed(DeliveryStore, given.store?.(real) ?? real),
      given.receive === undefined
        ? Layer.fresh(HttpsWebhookSender.layer(given))
        : WebhookSenderMemory.layer(given.receive)
    )
    const layer = Layer.fresh(DeliveryWorker.layer({ ...given, name: given.name ?? `worker-${++workers}` })).pipe(
      Layer.provide(ports)
    )
    const built = await run(Layer.buildWithScope(layer, own))
    const worker = Context.get(built, DeliveryWorker)
    return { ...worker, close: () => Effect.runPromise(Scope.close(own, Exit.void)) }
  }

  return {
    tls,
    run,
    context,
    decide,
    register,
    queue,
    query,
    rows,
    delivery,
    startWorker,
    now: clock.now,
    /** Moves business time forward. */
    advance: (millis: number) => clock.setOffset(clock.offset() + millis),
    stop: async () => {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await database.drop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
export type World = Awaited<ReturnType<typeof startWorld>>

export interface Received {
  readonly id: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A receiver's reaction to a delivery; a returned number becomes the status of the answer. */
export type Behaviour = (delivery: Received, response: ServerResponse, request: IncomingMessage) => number | void

/** An HTTPS receiver on 127.0.0.1 that records its deliveries. */
export const startReceiver = async (tls: ServerCertificate, behave: Behaviour = () => 200) => {
  const received: Array<Received> = []
  let connections = 0
  const sockets = new Set<Duplex>()
  const server = createServer({ cert: tls.certificate, key: tls.key }, (request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const { headers } = request
      const delivery = {
        id: Number(headers["x-brokerage-delivery"]),
        headers,
        body: Buffer.concat(chunks).toString("utf8")
      }
      received.push(delivery)
      const status = behave(delivery, response, request)
      if (typeof status === "number") response.writeHead(status).end()
    })
  })
  server.on("connection", (socket) => {
    connections++
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
    socket.on("error", () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `https://127.0.0.1:${port}/hook`,
    received,
    connections: () => connections,
    openSockets: () => sockets.size,
    close: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    }
  }
}
export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** A plain listener that only counts connections. */
export const startCanary = async (host = "127.0.0.1") => {
  let connections = 0
  const server = createTcpServer((socket) => {
    connections++
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    connections: () => connections,
    close: () => new Promise<void>((resolve) => server.close(() => resolve()))
  }
}
