/**
 * The real HTTP server without a database, for the HTTP tests. Features whose internals tests check run over stub
 * services; all others return values of their contract (standIn.ts). Answers are stored as in the journal (the first
 * row of a key wins).
 */
import { Effect, Exit, Layer, References, Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { Agent } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { partnerFeatures } from "../../src/http/features.ts"
import { account } from "../../src/http/handlers/account.ts"
import { clients } from "../../src/http/handlers/clients.ts"
import { collateral } from "../../src/http/handlers/collateral.ts"
import type { Served } from "../../src/http/handlers/feature.ts"
import { profile } from "../../src/http/handlers/profile.ts"
import { HttpServer, type HttpServerOptions } from "../../src/http/HttpServer.ts"
import type { ClientWire } from "../../src/machines/client/ClientWire.ts"
import { noFacts } from "../../src/machines/market/Facts.ts"
import { anyTime } from "../../src/machines/venue/timeChecks.ts"
import { accept, refuse, unknown as unknownOf } from "../../src/machines/shared/Refusal.ts"
import { LocalAuthority } from "../../src/runtime/adapters/LocalAuthority.ts"
import { ActorHost, ClaimLost, type StoreAnswer } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../src/runtime/engine/clock/BusinessClock.ts"
import { answerClaim } from "../../src/runtime/engine/journal/Commit.ts"
import { makeSealing } from "../../src/runtime/engine/sealing/Sealing.ts"
import { SealingService } from "../../src/runtime/engine/sealing/SealingService.ts"
import type { AccountOverviewWire } from "../../src/machines/account/AccountWire.ts"
import { overviewExample } from "../fixtures/accountExamples.ts"
import { accountSummary } from "../../src/runtime/services/account/accountSummary.ts"
import { Accounts } from "../../src/runtime/services/account/Accounts.ts"
import { Notifications } from "../../src/runtime/services/account/Notifications.ts"
import { Clients } from "../../src/runtime/services/clients/client/Clients.ts"
import {
  CollateralReports,
  type CollateralVerdict
} from "../../src/runtime/services/money/collateral/CollateralReports.ts"
import { Directory, type PartnerView } from "../../src/runtime/services/partners/Directory.ts"
import { Health } from "../../src/runtime/services/operations/system/Health.ts"
import { KeyUsage } from "../../src/runtime/services/partners/KeyUsage.ts"
import { Onboarding, type OnboardingVerdict } from "../../src/runtime/services/clients/client/Onboarding.ts"
import { Summary } from "../../src/runtime/services/partners/Summary.ts"
import type { PartnerPrincipal } from "../../src/runtime/services/partners/Principal.ts"
import { AnswerStore } from "../../src/runtime/store/AnswerStore.ts"
import type { AnswerRow } from "../../src/runtime/tables/engine.ts"
import { type Answer, type CallOptions, callServer } from "./callServer.ts"
import {
  balances,
  clientId,
  clientWire,
  collateralBooked,
  keyRow,
  keys,
  ledger,
  now,
  onboarded,
  page,
  partner,
  report,
  summary
} from "./canned.ts"
import { standIn } from "./standIn.ts"

/** The state of the stub that a test may change or read while the server runs. */
export class Stub {
  partner: PartnerView = partner
  healthy = true
  businessNow = now
  /** The number of runs of a service behind a write. */
  runs = 0
  answers = new Map<string, AnswerRow>()
  onboard: () => Effect.Effect<OnboardingVerdict> = () => Effect.succeed(accept(onboarded))
  collateral: () => Effect.Effect<CollateralVerdict> = () => Effect.succeed(collateralBooked)
  client: (id: number) => ClientWire | null = (id) => (id === clientId ? clientWire : null)
  /** The parsed body of the last write. */
  lastBody: unknown = undefined
  lastRequestId = ""
  lastListQuery: unknown = undefined
  failReads: Effect.Effect<never> | null = null

  /** Changes columns of the partner's row. */
  setPartner(columns: Partial<PartnerView["row"]>, reliance: string = this.partner.reliance): void {
    this.partner = { ...this.partner, row: { ...this.partner.row, ...columns }, reliance }
  }

  /** Stores an answer like the journal: the first one for a key wins. */
  readonly keep = (row: AnswerRow): Effect.Effect<void, ClaimLost> =>
    Effect.suspend(() => {
      const name = answerClaim(row.principal, row.key)
      if (this.answers.has(name)) return Effect.fail(new ClaimLost({ claims: [{ name, owner: 0 }] }))
      this.answers.set(name, row)
      return Effect.void
    })

  readonly read = <A>(value: () => A): Effect.Effect<A> => Effect.suspend(() => this.failReads ?? Effect.sync(value))

  /** A write in which only body and answer matter. */
  readonly written = <A>(body: unknown, verdict: A, store: StoreAnswer<A>): Effect.Effect<A, ClaimLost> =>
    Effect.suspend(() => {
      this.runs++
      this.lastBody = body
      return this.ended(verdict, store)
    })

  readonly ended = <A>(verdict: A, store: StoreAnswer<A>): Effect.Effect<A, ClaimLost> =>
    Effect.suspend(() => {
      const row = store.row(verdict, { now: this.businessNow })
      if (row === null) return Effect.succeed(verdict)
      return Effect.map(this.keep(row), () => {
        store.committed(row)
        return verdict
      })
    })
}

const unused = () => Effect.die(new Error("not used by the HTTP tests"))

const unusedDirectory: Directory["Service"] = {
  credential: () => null,
  partner: () => null,
  findPartner: () => null,
  partners: () => [],
  keys: () => [],
  key: () => null,
  operatorKey: () => null,
  operatorKeys: () => [],
  hold: (_, work) => work,
  stamp: (partnerId) => ({ partnerId, epoch: 1 })
}

/** The sealing of every stub server, so that one can open the values that another has stored. */
export const stubSealing = makeSealing({ current: 1, keys: new Map([[1, Buffer.alloc(32, 5)]]) })

/** All services the HTTP server needs, over one stub. */
export const stubServices = (stub: Stub) => Layer.mergeAll(stubEngine(stub), stubReads(stub), stubWrites(stub))

const stubEngine = (stub: Stub) => {
  const credentials = new Map(
    [keyRow(1, keys.trade, "TRADE"), keyRow(2, keys.read, "READ")].map((row) => [row.hash, row] as const)
  )
  const used = new Map<number, number>()
  return Layer.mergeAll(
    Layer.succeed(Directory, {
      ...unusedDirectory,
      credential: (keyHash) => {
        const key = credentials.get(keyHash)
        return key === undefined || stub.partner.row.state === "CLOSED" ? null : { partner: stub.partner, key }
      }
    }),
    Layer.succeed(ActorHost, {
      dispatch: unused,
      read: unused,
      readNow: unused,
      awaitCommitted: unused,
      facts: () => noFacts,
      onCallEnded: () => {},
      onDecided: () => {},
      onCommitted: () => {},
      pressed: () => false,
      stats: () => ({ resident: 0, waiting: 0 }),
      drain: Effect.void,
      record: (rows) => Effect.asVoid(Effect.forEach(rows.answers ?? [], stub.keep))
    }),
    Layer.succeed(BusinessClock, {
      now: () => stub.businessNow,
      offset: () => 0,
      venueTime: () => anyTime,
      measure: () => undefined,
      noteBehind: () => undefined,
      expect: () => {},
      setOffset: () => {},
      raise: () => {},
      carrier: () => null,
      carriedBy: () => {},
      onMove: () => {}
    }),
    Layer.succeed(AnswerStore, {
      find: (principal, key) => Effect.sync(() => stub.answers.get(answerClaim(principal, key)) ?? null),
      discardExpired: (principal, key) => Effect.sync(() => void stub.answers.delete(answerClaim(principal, key))),
      sweep: () => Effect.succeed(0),
      sweepBegun: () => Effect.succeed(0),
      sweepParts: () => Effect.succeed(0)
    }),
    SealingService.layer(stubSealing),
    Layer.succeed(Health, { check: Effect.sync(() => stub.healthy) }),
    Layer.succeed(KeyUsage, {
      touch: (keyId, at) => {
        const before = used.get(keyId) ?? null
        used.set(keyId, at)
        return before
      },
      lastUsedAt: (keyId) => used.get(keyId) ?? null
    })
  )
}

const stubReads = (stub: Stub) => {
  const own = <A>(id: number, value: A) => (stub.client(id) === null ? null : value)
  return Layer.mergeAll(
    Layer.succeed(Clients, {
      owns: (_partnerId, id) => stub.read(() => stub.client(id) !== null),
      get: (_partnerId, id) => stub.read(() => stub.client(id)),
      byRef: (_partnerId, ref) => stub.read(() => (ref === clientWire.partnerClientRef ? clientWire : null)),
      list: (_partnerId, query) =>
        stub.read(() => {
          stub.lastListQuery = query
          return { clients: [clientWire], ...page }
        }),
      verification: unused
    }),
    Layer.succeed(Summary, {
      of: () => stub.read(() => summary)
    }),
    Layer.succeed(Accounts, {
      balances: (_partnerId, id) => stub.read(() => own(id, balances)),
      balancesAt: (_partnerId, id) => stub.read(() => own(id, balances)),
      summary: (_partnerId, id) => stub.read(() => own(id, accountSummary(1_750_000_000_000))),
      overview: (_partnerId, id) =>
        stub.read(() =>
          stub.client(id) === null ? refuse(unknownOf("Client")) : accept(overviewExample as AccountOverviewWire)
        ),
      ledger: (_partnerId, id) => stub.read(() => own(id, ledger))
    }),
    Layer.succeed(Notifications, {
      feed: (_partnerId, id) =>
        stub.read(() =>
          stub.client(id) === null
            ? refuse(unknownOf("Client"))
            : accept({ answer: { items: [], since: 1, asOf: 2 }, next: null })
        )
    })
  )
}

const stubWrites = (stub: Stub) =>
  Layer.mergeAll(
    Layer.succeed(Onboarding, {
      onboard: (caller, body, store) =>
        Effect.suspend(() => {
          stub.runs++
          stub.lastBody = body
          stub.lastRequestId = caller.by.requestId
          return Effect.flatMap(stub.onboard(), (verdict) => stub.ended(verdict, store))
        })
    }),
    Layer.succeed(CollateralReports, {
      report: (_caller, _id, body, store) =>
        Effect.suspend(() => {
          stub.runs++
          stub.lastBody = body
          return Effect.flatMap(stub.collateral(), (verdict) => stub.ended(verdict, store))
        }),
      list: (_partnerId, query) =>
        stub.read(() =>
          query.clientId === undefined || stub.client(query.clientId) !== null ? { reports: [report], ...page } : null
        )
    })
  )

/** Features with their own handlers over services of the stub, because tests check their internals. */
const asTheyAre = [profile, clients, account, collateral]

type Needs = Accounts | BusinessClock | Clients | CollateralReports | Notifications | Onboarding | Summary

/**
 * The whole contract of the partner surface with planted features. Features outside `asTheyAre` answer from their
 * schemas.
 */
const stubFeatures = (stub: Stub, planted: ReadonlyArray<Planted>): ReadonlyArray<Served<PartnerPrincipal, Needs>> => {
  const behind = { owns: (id: number) => stub.client(id) !== null, read: stub.read, written: stub.written }
  const others = partnerFeatures.filter(({ api }) => asTheyAre.every((its) => its.api.identifier !== api.identifier))
  return [
    ...asTheyAre,
    ...others.map(({ api }) => standIn(api, behind)),
    ...planted.map((its) => ("handlers" in its ? its : standIn(its, behind)))
  ]
}

/** A feature that is in no contract, or only its part of one. */
type Planted = Served<PartnerPrincipal, never> | Served<PartnerPrincipal, never>["api"]

type StubOptions = Partial<Omit<HttpServerOptions<never>, "features">> & { readonly planted?: ReadonlyArray<Planted> }

/** A running server with its stub and a client that trusts it. */
export interface Running {
  readonly stub: Stub
  readonly port: number
  readonly ca: string
  readonly call: (method: string, path: string, options?: CallOptions) => Promise<Answer>
  /** Closes only the server, gracefully; the client's connections stay open. */
  readonly stop: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Starts a server on a free port of 127.0.0.1; `close` ends it gracefully. */
export const startStubServer = async ({ planted = [], ...options }: StubOptions = {}): Promise<Running> => {
  const stub = new Stub()
  const folder = mkdtempSync(join(tmpdir(), "http-test-"))
  const scope = Scope.makeUnsafe()
  const started = await Effect.gen(function* () {
    const tls = yield* LocalAuthority.ensure({ dataDirectory: folder })
    const bound = yield* HttpServer.start({
      features: stubFeatures(stub, planted),
      host: "127.0.0.1",
      port: 0,
      tls: { key: tls.key, cert: tls.certificate },
      edgeHosts: [],
      ...options
    })
    return { port: bound.port, ca: tls.ca }
  }).pipe(
    Effect.provide(stubServices(stub)),
    Scope.provide(scope),
    Effect.provideService(References.MinimumLogLevel, "None"),
    Effect.runPromise
  )
  rmSync(folder, { recursive: true, force: true })
  const agent = new Agent({ keepAlive: true, maxSockets: 32, ca: started.ca })
  const stop = () => Effect.runPromise(Scope.close(scope, Exit.void))
  return {
    stub,
    ...started,
    stop,
    call: (method, path, call) => callServer(agent, started.port, method, path, call ?? {}),
    close: async () => {
      agent.destroy()
      await stop()
    }
  }
}
