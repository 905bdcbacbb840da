/**
 * A partner surface in memory: onboarding, collateral and the reads that the bot uses, over real HTTPS. It can add
 * faults to requests and answers, and it can make the mistakes that the bot must detect.
 */
import { Effect, type Scope } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:https"
import { SeededRandom } from "../../simulator/partner/SeededRandom.ts"
import { formatAmount, parseAmount } from "../../src/machines/shared/Money.ts"
import { LocalAuthority } from "../../src/runtime/adapters/LocalAuthority.ts"

/** The mistakes of a broken service; `none` is a correct one. */
export const mistakes = [
  "none",
  "executes retries again",
  "forgets a report",
  "changes a replay",
  "loses a unit",
  "refuses the key"
] as const
export type Mistake = (typeof mistakes)[number]

export interface StubOptions {
  readonly dataDir: string
  readonly seed: number
  /** The probability of a fault per attempt. */
  readonly faults: number
  readonly mistake: Mistake
}

export interface StubService {
  readonly url: string
  readonly ca: string
  /** The number of executed requests, without replays. */
  readonly executions: () => number
  /** The number of faults, by kind. */
  readonly faults: ReadonlyMap<string, number>
}

interface Answer {
  readonly status: number
  readonly body: string
}

interface StubClient {
  readonly row: Record<string, unknown> & { readonly clientId: number }
  cash: bigint
  readonly postings: Array<Record<string, unknown>>
}

type Body = Record<string, string>

const at = 1_700_000_000_000
const faultKinds = ["reset before", "reset after", "half an answer", "503", "502", "429", "in progress"] as const

class Books {
  readonly clients: Array<StubClient> = []
  readonly reports: Array<Record<string, unknown>> = []
  /** The client's cash after each report's own booking, which a replay returns again. */
  private readonly cashAfter = new Map<object, string>()
  readonly answers = new Map<string, Answer>()
  executions = 0
  private transactions = 0
  private readonly mistake: Mistake

  constructor(mistake: Mistake) {
    this.mistake = mistake
  }

  get refusesKeys(): boolean {
    return this.mistake === "refuses the key"
  }

  post(path: string, key: string, body: Body): Answer & { readonly replayed: boolean } {
    const kept = this.answers.get(key)
    if (kept !== undefined && (this.mistake !== "executes retries again" || this.executions % 7 !== 0)) {
      return {
        ...kept,
        body: this.mistake === "changes a replay" ? kept.body.replace("}", " }") : kept.body,
        replayed: true
      }
    }
    this.executions++
    const answer = path.endsWith("/collateral") ? this.report(path, body) : this.onboard(body)
    this.answers.set(key, answer)
    return { ...answer, replayed: false }
  }

  read(path: string): unknown {
    const client = this.clients.find(({ row }) => path.startsWith(`/partner/v1/clients/${row.clientId}/`))
    const end = { hasMore: false, nextBefore: null }
    if (client !== undefined && path.includes("/balances")) return { balances: [this.balanceOf(client)] }
    if (client !== undefined && path.includes("/ledger"))
      return { code: 0, data: { postings: client.postings, ...end } }
    if (path.startsWith("/partner/v1/collateral")) {
      return {
        code: 0,
        data: { reports: this.mistake === "forgets a report" ? this.reports.slice(1) : this.reports, ...end }
      }
    }
    const rows = this.clients.map((each) => ({ ...each.row, cashUsdc: formatAmount(each.cash, "USDC") }))
    return { code: 0, data: { clients: rows, ...end } }
  }

  private onboard(body: Body): Answer {
    const clientId = this.clients.length + 1
    const { partnerClientRef, email } = body
    const shared = {
      clientId,
      clientUid: `CL-${clientId}`,
      partnerClientRef,
      verificationLevel: "MICA",
      lifecycleState: "ACTIVE"
    }
    const row = { ...shared, email, displayName: "A B", categorization: "RETAIL", riskState: null, createdAt: at }
    this.clients.push({ row, cash: 0n, postings: [] })
    const actions = ["TRADE", "DEPOSIT", "WITHDRAW"].flatMap((verb) =>
      (verb === "TRADE" ? ["PERP", "SPOT", "BARRIER", "STAKING"] : ["CRYPTO", "FIAT"]).map((what) => [
        `${verb}:${what}`,
        []
      ])
    )
    const data = {
      ...shared,
      status: "ACTIVE",
      kycPackageId: clientId,
      requirements: Object.fromEntries(actions),
      review: null
    }
    return { status: 201, body: JSON.stringify({ code: 0, data }) }
  }

  private report(path: string, body: Body): Answer {
    const clientId = Number(path.split("/")[4])
    const client = this.clients[clientId - 1] as StubClient
    const filed =
      this.mistake === "executes retries again"
        ? undefined
        : this.reports.find(({ partnerRef }) => partnerRef === body.partnerRef)
    const report = filed ?? this.book(client, body)
    const cash = this.cashAfter.get(report) ?? ""
    const balances = { cash, reserved: "0.000000", free: cash, freeMargin: cash }
    const data = { reportId: report.reportId, status: "BOOKED", ledgerTxId: report.ledgerTxId, balances, report }
    return { status: filed === undefined ? 201 : 200, body: JSON.stringify({ code: 0, data }) }
  }

  private book(client: StubClient, body: Body): Record<string, unknown> {
    const amount = BigInt(parseAmount(body.amount, "USDC"))
    const signed = body.direction === "DEPOSIT" ? amount : -amount
    const txId = ++this.transactions
    client.cash += this.mistake === "loses a unit" && txId % 5 === 0 ? signed - 1n : signed
    const { partnerRef, direction, txRef } = body
    const report = {
      reportId: txId,
      partnerId: 1,
      clientId: client.row.clientId,
      clientUid: client.row.clientUid,
      partnerRef,
      direction,
      txRef,
      currency: "USDC",
      amount: formatAmount(amount, "USDC"),
      sourceAsset: "EURD",
      occurredAt: at,
      status: "BOOKED",
      refusal: "",
      ledgerTxId: txId,
      createdAt: at
    }
    this.reports.unshift(report)
    this.cashAfter.set(report, formatAmount(client.cash, "USDC"))
    const type = direction === "DEPOSIT" ? "PARTNER_COLLATERAL_IN" : "PARTNER_COLLATERAL_OUT"
    const rest = { actor: "partner:X", reason: null, ts: at, currency: "USDC", kind: "cash", refs: {} }
    client.postings.unshift({ postingId: txId, txId, type, amount: formatAmount(signed, "USDC"), ...rest })
    return report
  }

  private balanceOf(client: StubClient): Record<string, unknown> {
    const cash = formatAmount(client.cash, "USDC")
    const none = "0.000000"
    return {
      currency: "USDC",
      kind: "CASH",
      cash,
      reserved: none,
      total: cash,
      free: cash,
      displayDecimals: 2,
      venueAsset: "USDC",
      equity: cash,
      unrealizedPnl: none,
      freeMargin: cash,
      mark: "1",
      markFresh: true,
      value: cash,
      valueCurrency: "USDC",
      staked: none,
      swapClaims: none,
      stakedValue: none,
      claimsValue: none
    }
  }
}

/** Serves until the scope closes. */
export const startStubService = Effect.fnUntraced(function* (
  options: StubOptions
): Effect.fn.Return<StubService, never, Scope.Scope> {
  const { certificate, key, ca } = yield* Effect.orDie(
    LocalAuthority.ensure({ dataDirectory: options.dataDir, host: "127.0.0.1" })
  )
  const books = new Books(options.mistake)
  const random = new SeededRandom(options.seed)
  const faults = new Map<string, number>()
  const server = createServer({ cert: certificate, key }, (incoming, outgoing) => {
    const parts: Array<Buffer> = []
    incoming.on("data", (part: Buffer) => parts.push(part))
    incoming.on("end", () => {
      const fault = incoming.method === "POST" && random.chance(options.faults) ? random.pick(faultKinds) : null
      if (fault !== null) faults.set(fault, (faults.get(fault) ?? 0) + 1)
      respond(books, incoming, outgoing, Buffer.concat(parts).toString(), fault)
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return { url: `https://127.0.0.1:${port}`, ca, executions: () => books.executions, faults }
})

const refusals: Readonly<Record<string, readonly [status: number, body: string]>> = {
  "503": [503, '{"code":5030,"msg":"away","error":"away"}'],
  "502": [502, '{"code":5020,"msg":"bad","error":"bad"}'],
  "429": [429, '{"code":4290,"msg":"slow","error":"slow"}'],
  "in progress": [409, '{"code":4092,"msg":"The request with this Idempotency-Key is still in progress.","error":"x"}']
}

const respond = (
  books: Books,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  text: string,
  fault: string | null
): void => {
  if (fault === "reset before") return void incoming.socket.destroy()
  const refusal = refusals[fault ?? ""]
  if (refusal !== undefined) {
    const [status, body] = refusal
    return void outgoing.writeHead(status, { "content-type": "application/json", "retry-after": "0" }).end(body)
  }
  if (books.refusesKeys) return void outgoing.writeHead(401).end('{"code":4010,"msg":"no","error":"no"}')
  const path = incoming.url ?? ""
  if (incoming.method === "GET") return void outgoing.writeHead(200).end(JSON.stringify(books.read(path)))
  const answer = books.post(path, String(incoming.headers["idempotency-key"]), JSON.parse(text) as Body)
  if (fault === "reset after") return void incoming.socket.destroy()
  const headers = {
    "content-length": Buffer.byteLength(answer.body),
    ...(answer.replayed ? { "idempotency-replayed": "true" } : {})
  }
  outgoing.writeHead(answer.status, headers)
  if (fault !== "half an answer") return void outgoing.end(answer.body)
  outgoing.write(answer.body.slice(0, answer.body.length >> 1), () => void incoming.socket.destroy())
}
