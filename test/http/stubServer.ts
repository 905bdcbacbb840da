// The real HTTP server over stub services in memory: what the HTTP tests run against. Answers are kept like the journal
// keeps them (the first row of a key wins), everything else is canned and can be replaced per test.
import { Effect, Exit, Layer, References, Scope } from "effect"
import { hash } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { Agent, request as httpsRequest } from "node:https"
import type { IncomingHttpHeaders } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { HttpServer, type HttpServerOptions } from "../../src/http/HttpServer.ts"
import type { ClientWire, OnboardingResult, VerificationView } from "../../src/machines/client/ClientWire.ts"
import { noAssessment } from "../../src/machines/client/ClientWire.ts"
import type { CollateralReport } from "../../src/machines/collateral/CollateralReport.ts"
import type { Requirements } from "../../src/machines/verification/requirements.ts"
import { accept } from "../../src/machines/shared/Refusal.ts"
import { LocalAuthority } from "../../src/runtime/adapters/LocalAuthority.ts"
import { ActorHost, ClaimLost, type StoreAnswer } from "../../src/runtime/engine/ActorHost.ts"
import { BusinessClock } from "../../src/runtime/engine/BusinessClock.ts"
import { answerClaim } from "../../src/runtime/engine/Commit.ts"
import { Accounts, type BalancesWire } from "../../src/runtime/services/Accounts.ts"
import { Clients } from "../../src/runtime/services/Clients.ts"
import { CollateralReports, type CollateralVerdict } from "../../src/runtime/services/CollateralReports.ts"
import { Directory, type PartnerView } from "../../src/runtime/services/Directory.ts"
import { Health } from "../../src/runtime/services/Health.ts"
import { KeyUsage } from "../../src/runtime/services/KeyUsage.ts"
import { Onboarding, type OnboardingVerdict } from "../../src/runtime/services/Onboarding.ts"
import { Summary } from "../../src/runtime/services/Summary.ts"
import { AnswerStore } from "../../src/runtime/store/AnswerStore.ts"
import type { AnswerRow, ApiKeyRow } from "../../src/runtime/store/Rows.ts"

export const keys = { trade: "pbk_trade", read: "pbk_read" } as const
export const clientId = 41
export const now = 1_795_132_800_000

const requirements: Requirements = {
  "TRADE:PERP": ["ACCOUNT_PURPOSE"],
  "TRADE:SPOT": [],
  "TRADE:BARRIER": ["ACCOUNT_PURPOSE"],
  "TRADE:STAKING": ["ACCOUNT_PURPOSE"],
  "DEPOSIT:CRYPTO": [],
  "WITHDRAW:CRYPTO": [],
  "DEPOSIT:FIAT": ["BANK_ACCOUNT"],
  "WITHDRAW:FIAT": ["BANK_ACCOUNT"]
}

export const clientWire: ClientWire = {
  clientId,
  clientUid: "CL-00000041",
  partnerClientRef: "ref 1/ä",
  email: "a@example.org",
  displayName: "Ada Example",
  verificationLevel: "MICA",
  lifecycleState: "ACTIVE",
  categorization: "RETAIL",
  riskState: null,
  cashUsdc: "12.500000",
  createdAt: now
}

export const onboarded: OnboardingResult = {
  clientId,
  clientUid: "CL-00000041",
  partnerClientRef: "ref 1/ä",
  verificationLevel: "MICA",
  lifecycleState: "ACTIVE",
  status: "ACTIVE",
  kycPackageId: 7,
  requirements,
  review: null
}

const verification: VerificationView = {
  clientId,
  clientUid: "CL-00000041",
  partnerClientRef: "ref 1/ä",
  level: "MICA",
  lifecycleState: "ACTIVE",
  blocks: [
    {
      code: "PERSONAL_INFO",
      level: "MICA",
      status: "APPROVED",
      decidedBy: "PARTNER",
      decidedAt: now,
      reason: null,
      updatedAt: now
    }
  ],
  requirements,
  appropriateness: noAssessment,
  kycPackage: { kycPackageId: 7, revision: 1, status: "ACCEPTED", reviewNote: null }
}

export const report: CollateralReport = {
  reportId: 5,
  partnerId: 1,
  clientId,
  clientUid: "CL-00000041",
  partnerRef: "c-1",
  direction: "DEPOSIT",
  currency: "USDC",
  amount: "12.500000",
  sourceAsset: "EURX",
  txRef: null,
  occurredAt: now,
  status: "BOOKED",
  refusal: "",
  ledgerTxId: 9,
  createdAt: now
}

export const collateralBooked = accept({
  status: 201 as const,
  data: {
    reportId: 5,
    status: "BOOKED" as const,
    ledgerTxId: 9,
    balances: { cash: "12.500000", reserved: "0.000000", free: "12.500000", freeMargin: "12.500000" },
    report
  }
})

const balances: BalancesWire = {
  balances: [
    {
      currency: "USDC",
      kind: "CASH",
      cash: "12.500000",
      reserved: "0.000000",
      total: "12.500000",
      free: "12.500000",
      displayDecimals: 2,
      venueAsset: "USDC",
      equity: "12.500000",
      unrealizedPnl: "0.000000",
      freeMargin: "12.500000",
      mark: "1",
      markFresh: true,
      value: "12.500000",
      valueCurrency: "USDC",
      staked: "0.000000",
      swapClaims: "0.000000",
      stakedValue: "0.000000",
      claimsValue: "0.000000"
    }
  ],
  portfolioValue: "12.500000",
  portfolioCurrency: "USDC",
  portfolio: {
    cashTotal: "12.500000",
    reserved: "0.000000",
    holdingsValue: "0.000000",
    stakedValue: "0.000000",
    unrealizedPnl: "0.000000",
    claimsValue: "0.000000",
    holdingsValued: true,
    currency: "USDC"
  }
}

const partner: PartnerView = {
  row: {
    id: 1,
    code: "ACME",
    name: "Acme",
    legalName: "Acme SA",
    country: "LU",
    licence: "MICA_CASP",
    sandbox: true,
    custodyModel: "PARTNER",
    collateralAsset: "EURX",
    uidPrefix: "CL",
    readPerMinute: 1_000_000,
    tradePerMinute: 1_000_000,
    allowedCidrs: [],
    epoch: 1,
    createdAt: now,
    state: "ACTIVE",
    version: "1",
    context: {}
  },
  reliance: "APPROVED",
  endpoint: null
}

const keyRow = (id: number, key: string, scope: "READ" | "TRADE"): ApiKeyRow => ({
  id,
  partnerId: 1,
  hash: hash("sha256", key, "hex"),
  prefix: key.slice(0, 10),
  label: `key ${id}`,
  scope,
  createdAt: now,
  state: "ACTIVE",
  version: "1",
  context: {}
})

/** What a test may change while the server runs, and what it may look at. */
export class Stub {
  partner: PartnerView = partner
  healthy = true
  businessNow = now
  /** Runs of a service behind a write. */
  runs = 0
  answers = new Map<string, AnswerRow>()
  onboard: () => Effect.Effect<OnboardingVerdict> = () => Effect.succeed(accept(onboarded))
  collateral: () => Effect.Effect<CollateralVerdict> = () => Effect.succeed(collateralBooked)
  client: (id: number) => ClientWire | null = (id) => (id === clientId ? clientWire : null)
  /** The parsed body and caller the last write got. */
  lastBody: unknown = undefined
  lastRequestId = ""
  lastListQuery: unknown = undefined
  failReads: Effect.Effect<never> | null = null

  /** Changes columns of the partner's row. */
  setPartner(columns: Partial<PartnerView["row"]>, reliance: string = this.partner.reliance): void {
    this.partner = { ...this.partner, row: { ...this.partner.row, ...columns }, reliance }
  }

  /** Keeps an answer like the journal: the first one for a key wins. */
  readonly keep = (row: AnswerRow | null): Effect.Effect<void, ClaimLost> =>
    Effect.suspend(() => {
      if (row === null) return Effect.void
      const name = answerClaim(row.partnerId, row.key)
      if (this.answers.has(name)) return Effect.fail(new ClaimLost({ claims: [{ name, owner: 0 }] }))
      this.answers.set(name, row)
      return Effect.void
    })

  readonly ended = <A>(verdict: A, store: StoreAnswer<A>): Effect.Effect<A, ClaimLost> =>
    Effect.as(this.keep(store(verdict, { now: this.businessNow })), verdict)
}

const read = <A>(stub: Stub, value: () => A) =>
  Effect.suspend(() => stub.failReads ?? Effect.sync(value))

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
  stamp: (partnerId) => ({ partnerId, epoch: 1 })
}

/** All services the HTTP server needs, over one stub. */
export const stubServices = (stub: Stub) => {
  const credentials = new Map(
    [keyRow(1, keys.trade, "TRADE"), keyRow(2, keys.read, "READ")].map((row) => [row.hash, row] as const)
  )
  const used = new Map<number, number>()
  const page = { hasMore: false, nextBefore: null }
  const own = <A>(id: number, value: A) => (stub.client(id) === null ? null : value)
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
      onCommitted: () => {},
      stats: () => ({ resident: 0, waiting: 0 }),
      drain: Effect.void,
      record: (rows) => Effect.asVoid(Effect.forEach(rows.answers ?? [], stub.keep))
    }),
    Layer.succeed(BusinessClock, {
      now: () => stub.businessNow,
      offset: () => 0,
      setOffset: () => {},
      onMove: () => {}
    }),
    Layer.succeed(AnswerStore, {
      find: (partnerId, key) => Effect.sync(() => stub.answers.get(answerClaim(partnerId, key)) ?? null),
      discardExpired: (partnerId, key) => Effect.sync(() => void stub.answers.delete(answerClaim(partnerId, key))),
      sweep: () => Effect.succeed(0)
    }),
    Layer.succeed(Health, { check: Effect.sync(() => stub.healthy) }),
    Layer.succeed(KeyUsage, {
      touch: (keyId, at) => {
        const before = used.get(keyId) ?? null
        used.set(keyId, at)
        return before
      },
      lastUsedAt: (keyId) => used.get(keyId) ?? null
    }),
    Layer.succeed(Clients, {
      get: (_partnerId, id) => read(stub, () => stub.client(id)),
      byRef: (_partnerId, ref) => read(stub, () => (ref === clientWire.partnerClientRef ? clientWire : null)),
      list: (_partnerId, query) =>
        read(stub, () => {
          stub.lastListQuery = query
          return { clients: [clientWire], ...page }
        }),
      verification: (_partnerId, id) => read(stub, () => own(id, verification))
    }),
    Layer.succeed(Summary, {
      of: () =>
        read(stub, () => ({
          asOf: now,
          clients: {
            total: 1,
            byState: { KYC_PENDING: 0, ACTIVE: 1, RESTRICTED: 0, KYC_REJECTED: 0, CLOSED: 0 },
            byLevel: { NONE: 0, MICA: 1, MICA_MIFID: 0 }
          },
          clientCash: [
            { currency: "USDC" as const, cash: "12.500000", reserved: "0.000000", total: "12.500000" }
          ],
          openBarriers: 0,
          openSwaps: 0,
          pendingDeposits: 0,
          pendingWithdrawals: 0,
          pendingReviews: 0
        }))
    }),
    Layer.succeed(Accounts, {
      balances: (_partnerId, id) => read(stub, () => own(id, balances)),
      ledger: (_partnerId, id) =>
        read(stub, () =>
          own(id, {
            postings: [
              {
                postingId: 3,
                txId: 9,
                type: "PARTNER_COLLATERAL_IN",
                actor: "partner:ACME",
                reason: null,
                ts: now,
                amount: "12.500000",
                currency: "USDC" as const,
                kind: "cash" as const,
                refs: { reportId: 5 }
              }
            ],
            ...page
          })
        )
    }),
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
        read(stub, () => (query.clientId === undefined || stub.client(query.clientId) !== null ? { reports: [report], ...page } : null))
    })
  )
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The parsed body; undefined when it is empty. */
  readonly json: unknown
}

export interface CallOptions {
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string | ReadonlyArray<string>>>
  readonly body?: unknown
  /** Sent as it is instead of `body`. */
  readonly raw?: string | Uint8Array
}

/** A running server with its stub and a client that trusts it. */
export interface Running {
  readonly stub: Stub
  readonly port: number
  readonly ca: string
  readonly call: (method: string, path: string, options?: CallOptions) => Promise<Answer>
  readonly close: () => Promise<void>
}

/** Starts a server on a free port of 127.0.0.1; `close` ends it gracefully. */
export const startStubServer = async (options: Partial<HttpServerOptions> = {}): Promise<Running> => {
  const stub = new Stub()
  const folder = mkdtempSync(join(tmpdir(), "http-test-"))
  const scope = Scope.makeUnsafe()
  const started = await Effect.gen(function* () {
    const tls = yield* LocalAuthority.ensure({ dataDirectory: folder })
    const bound = yield* HttpServer.start({
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
  return {
    stub,
    ...started,
    call: (method, path, call) => callServer(agent, started.port, method, path, call ?? {}),
    close: async () => {
      agent.destroy()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}

const callServer = (agent: Agent, port: number, method: string, path: string, options: CallOptions): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const payload = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body))
    const key = options.key === undefined ? keys.trade : options.key
    const headers: Record<string, string | ReadonlyArray<string>> = { ...options.headers }
    if (key !== null) headers["authorization"] ??= `Bearer ${key}`
    if (payload !== undefined) headers["content-length"] ??= String(Buffer.byteLength(payload))
    const request = httpsRequest(
      { agent, host: "127.0.0.1", port, method, path, headers: headers as Record<string, string> },
      (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("error", reject)
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8")
          const isJson = String(response.headers["content-type"]).startsWith("application/json") && text !== ""
          const json: unknown = isJson ? JSON.parse(text) : undefined
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json })
        })
      }
    )
    request.on("error", reject)
    request.end(payload)
  })
