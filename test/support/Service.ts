/**
 * The whole service in this process, on a private database and a real TLS socket, for contract and guarantee tests.
 * `run` runs an effect in its runtime, for facts that no route shows.
 */
import { Effect, Exit, Layer, ManagedRuntime, type Redacted, Scope } from "effect"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { Agent, request as httpsRequest } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { directFeatures, partnerFeatures } from "../../src/http/features.ts"
import { HttpServer } from "../../src/http/HttpServer.ts"
import { layerService } from "../../src/http/layerService.ts"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import { LocalAuthority } from "../../src/runtime/adapters/LocalAuthority.ts"
import { makeSealing, type Sealing } from "../../src/runtime/engine/sealing/Sealing.ts"
import type { RuntimeOptions } from "../../src/runtime/Runtime.ts"
import type { OperatorCaller } from "../../src/runtime/services/shared/OperatorCaller.ts"
import { type PartnerBody, Partners } from "../../src/runtime/services/lifecycle/Partners.ts"
import { defaultSettings, type SettingsShape } from "../../src/runtime/Settings.ts"
import { holdAnswer, holdBody } from "./describedBodies.ts"
import type { QuickClock } from "./quickClock.ts"
import { makeTestDatabase } from "./TestDatabase.ts"
import { layerTestLogs } from "./testLogs.ts"

export interface Answer {
  readonly status: number
  readonly headers: NodeJS.Dict<string | ReadonlyArray<string>>
  /** The body's bytes as text. */
  readonly text: string
  /** The body as JSON; undefined if it is not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
}

export interface Call {
  readonly key?: string
  readonly body?: unknown
  /** Sent without a change, instead of `body` as JSON. */
  readonly raw?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

export const operator: OperatorCaller = {
  keyId: 0,
  role: "ADMIN",
  by: { role: "ADMIN", keyLabel: "test", requestId: "test", actor: "ADMIN" }
}

/** A caller with the key of finance. */
export const finance: OperatorCaller = {
  keyId: 7,
  role: "FINANCE",
  by: { role: "FINANCE", keyLabel: "desk", requestId: "test", actor: "FINANCE" }
}

type RuntimeServices = Layer.Success<ReturnType<typeof layerService>>

export interface ServiceOptions {
  readonly settings?: Partial<SettingsShape>
  /** The database of another service, for tests with two services on it. */
  readonly database?: { readonly url: Redacted.Redacted; readonly sealing: Sealing }
  /** The layer of the venue; without one the service has none. */
  readonly layerVenue?: NonNullable<RuntimeOptions["layerVenue"]>
  /** The store of the keys of `database.sealing`, and the pace of the reseal worker. */
  readonly keys?: Pick<RuntimeOptions, "keyStore" | "resealPace">
  /** Parts of the runtime that replace the venue. */
  readonly venue?: Pick<RuntimeOptions, "venue" | "listed" | "controls" | "progress">
  /** Replaces the wall clock of the whole service; `progressOn` replaces it for routes, workers and the comparison only. */
  readonly clock?: QuickClock
}

export const startService = async (options: ServiceOptions = {}) => {
  const folder = mkdtempSync(join(tmpdir(), "brokerage-test-"))
  const own = options.database === undefined ? await makeTestDatabase() : null
  const url = (own?.url ?? options.database?.url) as Redacted.Redacted
  const sealing = options.database?.sealing ?? makeSealing({ current: 1, keys: new Map([[1, randomBytes(32)]]) })
  const runtime = ManagedRuntime.make(
    layerService({
      databaseUrl: url,
      sealing,
      settings: { ...defaultSettings, sandbox: true, ...options.settings },
      clockOffset: 0,
      owner: `test:${randomBytes(6).toString("hex")}`,
      ...(options.layerVenue === undefined ? {} : { layerVenue: options.layerVenue }),
      ...options.keys,
      ...options.venue
    }).pipe(
      Layer.provideMerge(options.clock === undefined ? layerTestLogs : Layer.merge(layerTestLogs, options.clock.layer))
    )
  )
  const run = <A, E>(effect: Effect.Effect<A, E, RuntimeServices>): Promise<A> =>
    runtime.runPromise(effect as Effect.Effect<A, E, never>)
  const scope = await run(Scope.make())
  const tls = await run(LocalAuthority.ensure({ dataDirectory: folder, host: "127.0.0.1" }))
  const bound = await run(
    HttpServer.start({
      features: partnerFeatures,
      direct: directFeatures,
      host: "127.0.0.1",
      port: 0,
      tls: { cert: tls.certificate, key: tls.key },
      edgeHosts: []
    }).pipe(Scope.provide(scope))
  )
  const agent = new Agent({ ca: tls.ca, keepAlive: true, maxSockets: 256 })

  const call = (method: string, path: string, { key, body, raw, headers = {} }: Call = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
      const outgoing = httpsRequest(
        `${bound.url}${path}`,
        {
          method,
          agent,
          headers: {
            ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
            ...(payload === undefined ? {} : { "content-length": String(Buffer.byteLength(payload)) }),
            ...headers
          }
        },
        (incoming) => {
          const chunks: Array<Buffer> = []
          incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
          incoming.on("error", reject)
          incoming.on("end", () => {
            const text = Buffer.concat(chunks).toString("utf8")
            const answer = { status: incoming.statusCode ?? 0, headers: incoming.headers, text, json: parsed(text) }
            try {
              holdAnswer(method, path, answer)
              if (body !== undefined && raw === undefined) holdBody(method, path, body, answer)
              resolve(answer)
            } catch (error) {
              reject(error)
            }
          })
        }
      )
      outgoing.on("error", reject)
      outgoing.end(payload)
    })

  let partners = 0
  /** Creates an ACTIVE partner with APPROVED reliance, generous limits and a key. */
  const partner = async (creation: Partial<PartnerBody> = {}, scopeOfKey: "READ" | "TRADE" = "TRADE") => {
    const code = creation.code ?? `P${++partners}`
    const made = await run(
      Effect.gen(function* () {
        const service = yield* Partners
        const profile = yield* service.create(operator, {
          code,
          name: `Partner ${code}`,
          legalName: `Partner ${code} AG`,
          country: "DE",
          licence: "MICA_CASP",
          custody: "PARTNER",
          collateralAsset: "EURD",
          uidPrefix: code,
          sandbox: true,
          ...creation
        })
        yield* service.reliance(operator, code, "APPROVED", "test")
        yield* service.limits(operator, code, { read: 1_000_000, trade: 1_000_000 })
        const issued = yield* service.issueKey(operator, code, { label: "test", scope: scopeOfKey })
        return { profile, issued }
      })
    )
    if (!made.profile.ok || !made.issued.ok) throw new Error(JSON.stringify(made))
    return { code, partnerId: made.profile.value.partnerId, key: made.issued.value.key, keyId: made.issued.value.keyId }
  }

  let persons = 0
  /** Onboards a new invented person. Returns the client's id. */
  const client = async (key: string): Promise<number> => {
    const answer = await call("POST", "/partner/v1/clients", {
      key,
      body: sampleOnboarding(++persons, "test", Date.now())
    })
    if (answer.status !== 201) throw new Error(answer.text)
    return answer.json.data.clientId as number
  }

  const stop = async (): Promise<void> => {
    agent.destroy()
    await run(Scope.close(scope, Exit.void))
    await runtime.dispose()
    if (own !== null) await own.drop()
    rmSync(folder, { recursive: true, force: true })
  }

  return { url: bound.url, ca: tls.ca, database: { url, sealing }, run, call, partner, client, stop }
}
export type Service = Awaited<ReturnType<typeof startService>>

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
