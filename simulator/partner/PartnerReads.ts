/**
 * The reads for the audit of the simulated partner: all pages, decoded by the contract's schemas (doc 1, Client row; doc 2,
 * Balances and Ledger posting; doc 3, Collateral report).
 */
import { Effect, Exit, Schema } from "effect"
import { BalanceLine, PostingWire } from "../../src/machines/account/AccountWire.ts"
import { ClientWire } from "../../src/machines/client/ClientWire.ts"
import { CollateralReport } from "../../src/machines/collateral/CollateralReport.ts"
import { OrderWire, type PositionWire, PositionsWire, TradeWire } from "../../src/machines/order/OrderWire.ts"
import type { PartnerClient } from "./PartnerClient.ts"
import { clientsPath } from "./PartnerRequest.ts"
import type { SeededRandom } from "./SeededRandom.ts"
import { makeTally, sendUntilAcknowledged } from "./sendUntilAcknowledged.ts"

/** A read was refused, or its answer does not match the contract. */
export class ReadRefused extends Schema.TaggedError<ReadRefused>()("ReadRefused", { sentence: Schema.String }) {
  override get message(): string {
    return this.sentence
  }
}

export interface PartnerReads {
  readonly clients: Effect.Effect<ReadonlyArray<typeof ClientWire.Type>, ReadRefused>
  readonly reports: Effect.Effect<ReadonlyArray<CollateralReport>, ReadRefused>
  readonly balances: (clientId: number) => Effect.Effect<ReadonlyArray<typeof BalanceLine.Type>, ReadRefused>
  readonly ledger: (clientId: number) => Effect.Effect<ReadonlyArray<typeof PostingWire.Type>, ReadRefused>
  readonly orders: (id: number) => Effect.Effect<ReadonlyArray<OrderWire>, ReadRefused>
  readonly trades: (id: number) => Effect.Effect<ReadonlyArray<TradeWire>, ReadRefused>
  readonly positions: (id: number) => Effect.Effect<ReadonlyArray<PositionWire>, ReadRefused>
}

interface Page<A> {
  readonly rows: ReadonlyArray<A>
  readonly nextBefore: number | null
}

const cursor = Schema.NullOr(Schema.Int)
const enveloped = <S extends Schema.Top>(data: S) =>
  Schema.fromJsonString(Schema.Struct({ code: Schema.Literal(0), data }))

const decodeClients = Schema.decodeUnknownExit(
  enveloped(Schema.Struct({ clients: Schema.Array(ClientWire), nextBefore: cursor }))
)
const decodeReports = Schema.decodeUnknownExit(
  enveloped(Schema.Struct({ reports: Schema.Array(CollateralReport), nextBefore: cursor }))
)
const decodeBalances = Schema.decodeUnknownExit(
  Schema.fromJsonString(Schema.Struct({ balances: Schema.Array(BalanceLine) }))
)
const decodeLedger = Schema.decodeUnknownExit(
  enveloped(Schema.Struct({ postings: Schema.Array(PostingWire), nextBefore: cursor }))
)
const decodeOrders = Schema.decodeUnknownExit(
  Schema.fromJsonString(Schema.Struct({ orders: Schema.Array(OrderWire), nextBefore: cursor }))
)
const decodeTrades = Schema.decodeUnknownExit(
  Schema.fromJsonString(Schema.Struct({ trades: Schema.Array(TradeWire), nextBefore: cursor }))
)
const decodePositions = Schema.decodeUnknownExit(Schema.fromJsonString(PositionsWire))

/** Makes the reads of a partner. A read waits while the service is unavailable, so the caller sets a limit. */
export const makePartnerReads = (client: PartnerClient, random: SeededRandom): PartnerReads => {
  const read = Effect.fnUntraced(function* <A>(
    path: string,
    decode: (text: string) => Exit.Exit<A, unknown>
  ): Effect.fn.Return<A, ReadRefused> {
    const answer = yield* sendUntilAcknowledged(client, { method: "GET", path }, random, makeTally())
    if (answer.status !== 200) return yield* new ReadRefused({ sentence: `GET ${path} answers ${answer.status}.` })
    const decoded = decode(answer.body.toString())
    if (Exit.isSuccess(decoded)) return decoded.value
    return yield* new ReadRefused({ sentence: `GET ${path} answers a body that is not the contract's.` })
  })
  const pages = Effect.fnUntraced(function* <A, B>(
    path: string,
    limit: number,
    decode: (text: string) => Exit.Exit<B, unknown>,
    pageOf: (body: B) => Page<A>
  ): Effect.fn.Return<ReadonlyArray<A>, ReadRefused> {
    const rows: Array<A> = []
    for (let before: number | null = null; ;) {
      const from: string = before === null ? "" : `&before=${before}`
      const page = pageOf(yield* read(`${path}?limit=${limit}${from}`, decode))
      rows.push(...page.rows)
      if (page.nextBefore === null) return rows
      before = page.nextBefore
    }
  })
  return {
    clients: pages(clientsPath, 200, decodeClients, ({ data }) => ({ ...data, rows: data.clients })),
    reports: pages("/partner/v1/collateral", 200, decodeReports, ({ data }) => ({ ...data, rows: data.reports })),
    balances: (id) => Effect.map(read(`${clientsPath}/${id}/balances`, decodeBalances), ({ balances }) => balances),
    ledger: (id) =>
      pages(`${clientsPath}/${id}/ledger`, 500, decodeLedger, ({ data }) => ({ ...data, rows: data.postings })),
    orders: (id) => pages(`${clientsPath}/${id}/orders`, 500, decodeOrders, (body) => ({ ...body, rows: body.orders })),
    trades: (id) => pages(`${clientsPath}/${id}/trades`, 500, decodeTrades, (body) => ({ ...body, rows: body.trades })),
    positions: (id) => Effect.map(read(`${clientsPath}/${id}/positions`, decodePositions), ({ positions }) => positions)
  }
}
