/**
 * Reads a close-out episode for staff: its orders, torn contracts, and the conditions it waits for (operator surface, closeout).
 */
import { Context, Effect, Layer } from "effect"
import { closeOutName } from "../../../machines/margin/CloseOut.ts"
import type {
  CloseOutDetailWire,
  ClosingOrderWire,
  OutsideCashWire,
  TornContractWire
} from "../../../machines/margin/CloseOutDetailWire.ts"
import { closeOutWire } from "../../../machines/margin/CloseOutWire.ts"
import { parseId } from "../../../machines/shared/Ids.ts"
import { decimalText, formatAmount, MoneyDecimal } from "../../../machines/shared/Money.ts"
import { accept, refuse, unknown, type Verdict } from "../../../machines/shared/Refusal.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import { ActorHost, type Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import { RowReads } from "../../ports/RowReads.ts"
import type { ContractRow } from "../../tables/contract.ts"
import type { CloseOutRow } from "../../tables/margin.ts"
import type { FillRow, OrderRow } from "../../tables/order.ts"
import type { Facts } from "../../../machines/market/Facts.ts"
import { accountIn } from "../account/accountNow.ts"
import { clientSubject } from "../account/clientState.ts"
import { orderMarkets } from "../trading/order/orderMarkets.ts"
import { firstRow } from "../shared/firstRow.ts"
import { stepOf, waitsOf } from "./closeOutWaits.ts"
import { type OutsideCash, outsideCash } from "../money/writeOffRepayment.ts"

/** The most orders, contracts and objects behind a write-off that an episode shows, for each kind. */
const shownOfEach = 100
/** The most rows of a client that are searched for rows of one episode. The client's other rows lie between them. */
const searchedMost = 1_000

export class CloseOutReads extends Context.Service<
  CloseOutReads,
  {
    /** Shows a close-out. `id`: its number, or its name (`CO-7`). */
    show(id: string): Effect.Effect<Verdict<CloseOutDetailWire>, Unavailable>
  }
>()("brokerage/runtime/services/margin/CloseOutReads") {
  static readonly layer = Layer.effect(
    CloseOutReads,
    Effect.gen(function* () {
      const [host, stored, clock] = [yield* ActorHost, yield* RowReads, yield* BusinessClock]
      const markets = yield* orderMarkets

      /** The conditions that select the client's rows since the episode began; `column` holds the time of a row. */
      const since = ({ clientId, startedAt }: CloseOutRow, column: string) => [
        { column: "client_id", value: clientId },
        { column, value: startedAt, comparison: ">=" as const }
      ]
      /** The search ends at the episode's last order, because the client may have placed any number of orders since. */
      const ordersOf = (episode: CloseOutRow) => {
        const { lastOrderId } = episode.context
        if (lastOrderId === null) return Effect.succeed([])
        const query = { limit: searchedMost, before: lastOrderId + 1 }
        return Effect.map(stored.page("orders", since(episode, "created_at"), query), (rows) =>
          rows
            .filter(({ context }) => context.note === closeOutName(episode.id))
            .slice(0, shownOfEach)
            .toReversed()
        )
      }
      const tornOf = (episode: CloseOutRow) =>
        Effect.map(
          stored.page("barrierContracts", [{ column: "client_id", value: episode.clientId }], { limit: searchedMost }),
          (rows) => rows.filter((row) => wasTorn(row, episode)).slice(0, shownOfEach)
        )
      const fillsOf = ({ id }: OrderRow) =>
        stored.page("fills", [{ column: "order_id", value: id }], { limit: searchedMost })
      const seen = (episode: CloseOutRow) =>
        host.read(clientSubject(episode.clientId), (state, facts) => ({
          uid: state.one("clients")?.uid ?? String(episode.clientId),
          account: accountOf(state, facts),
          step: stepOf(state, episode),
          waits: waitsOf({ state, facts, markets, now: clock.now() }, episode),
          outside: outsideCash(state, episode)
        }))

      return CloseOutReads.of({
        show: (id) =>
          Effect.gen(function* () {
            const value = parseId(id.replace(/^CO-/i, ""))
            const episode = value === undefined ? null : yield* firstRow(stored, "closeOuts", [{ column: "id", value }])
            if (episode === null) return refuse(unknown("Close-out"))
            const orders = yield* ordersOf(episode)
            const fills = yield* Effect.forEach(orders, fillsOf, { concurrency: 8 })
            const { uid, account, step, waits, outside } = yield* seen(episode)
            return accept({
              ...closeOutWire(episode.state, episode.context, uid),
              step,
              account,
              waits,
              behind: outside.toSorted(largestFirst).slice(0, shownOfEach).map(outsideView),
              behindAmount: formatAmount(
                outside.reduce((sum, { amount }) => sum + amount, 0n),
                "USDC"
              ),
              closingOrders: orders.map((row, at) => orderView(row, fills[at] ?? [])),
              tornContracts: (yield* tornOf(episode)).map(contractView)
            })
          })
      })
    })
  )
}

/** The largest difference between this service's clock and the venue's, which stamps the close of contracts, ms. */
const clockTolerance = 10_000

const wasTorn = ({ context: { tearUps, closedAt } }: ContractRow, { context: episode }: CloseOutRow): boolean => {
  if (tearUps === 0) return false
  if (closedAt === null) return episode.endedAt === null
  const isBefore = closedAt < episode.startedAt - clockTolerance
  return !isBefore && (episode.endedAt === null || closedAt <= episode.endedAt + clockTolerance)
}

const largestFirst = (one: OutsideCash, other: OutsideCash): number =>
  one.amount === other.amount ? one.id - other.id : one.amount > other.amount ? -1 : 1

const outsideView = ({ amount, ...rest }: OutsideCash): OutsideCashWire => ({
  ...rest,
  amount: formatAmount(amount, "USDC")
})

const accountOf = (state: SubjectState, facts: Facts): CloseOutDetailWire["account"] => {
  if (facts.takenAt === null) return null
  const { closeOutEquity, marginBase, marginLevel, riskState, marksFresh } = accountIn(state, facts).risk
  const usdc = (minor: bigint) => formatAmount(minor, "USDC")
  return { closeOutEquity: usdc(closeOutEquity), marginBase: usdc(marginBase), marginLevel, riskState, marksFresh }
}

const orderView = ({ id, state, context }: OrderRow, fills: ReadonlyArray<FillRow>): ClosingOrderWire => ({
  orderId: id,
  symbol: context.symbol,
  side: context.side,
  qty: context.qty,
  filledQty: context.filledQty,
  bound: context.venuePrice,
  price: averageOf(fills, context.priceDecimals),
  state,
  reason: context.reject,
  createdAt: context.createdAt
})

const averageOf = (fills: ReadonlyArray<FillRow>, places: number): string | null => {
  if (fills.length === 0) return null
  const qty = MoneyDecimal.sum(...fills.map((fill) => fill.qty))
  const value = MoneyDecimal.sum(...fills.map((fill) => new MoneyDecimal(fill.qty).mul(fill.price)))
  return decimalText(value.div(qty), places)
}

const contractView = ({ id, symbol, state, context }: ContractRow): TornContractWire => ({
  contractId: id,
  symbol,
  state,
  settlePrice: context.settlePrice,
  pnl: context.pnl,
  tearUps: context.tearUps
})
