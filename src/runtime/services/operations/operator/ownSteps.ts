/**
 * Steps of an object that leave no audit row, derived from the rows that they wrote: trades and the acknowledgement of
 * an order, payments and corrections of a swap, warnings of a contract and requests to close it.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Kind, MachineOf } from "../../../../machines/registry.ts"
import type { EventFrom } from "xstate"
import {
  requestedCloses,
  noticesOf,
  ordersMadeAt,
  postedAt,
  type StepWindow,
  tradesOfOrder
} from "../../../store/reads/ownStepReads.ts"
import type { MachineRow } from "../../../tables/Table.ts"
import type { ContractRow } from "../../../tables/contract.ts"
import type { OrderRow } from "../../../tables/order.ts"
import type { SwapRow } from "../../../tables/swap.ts"

/** A step, derived from its own row. */
export interface OwnStep {
  /** Business time, Unix ms. Null: the time was not recorded; the step came after the object's first step. */
  readonly at: number | null
  readonly event: string
  /** The guard that selected the transition, where the event has several. */
  readonly guard?: string
  /** A description of the step. */
  readonly reason: string
}

type Reader = (
  sql: PgClient.PgClient,
  row: MachineRow,
  window: StepWindow
) => Effect.Effect<ReadonlyArray<OwnStep>, SqlError.SqlError>

/** The steps within a page of the history, oldest first. */
export const ownSteps = (
  sql: PgClient.PgClient,
  kind: Kind,
  row: MachineRow,
  window: StepWindow
): Effect.Effect<ReadonlyArray<OwnStep>, SqlError.SqlError> =>
  Effect.map(readers[kind]?.(sql, row, window) ?? Effect.succeed([]), (steps) =>
    steps
      .filter(({ at }) => (at === null ? window.from === 0 : at >= window.from && at < window.until))
      .toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0))
      .slice(-window.limit)
  )

/** Builds a step. The types reject events that the machine does not have. */
const step = <K extends Kind>(
  _kind: K,
  event: EventFrom<MachineOf<K>>["type"],
  at: number | null,
  reason: string,
  guard?: string
): OwnStep => ({ at, event, reason, ...(guard === undefined ? {} : { guard }) })

const orderSteps: Reader = (sql, order, window) =>
  Effect.gen(function* () {
    const { id, state, context } = order as OrderRow
    const { trades, all } = yield* tradesOfOrder(sql, id, window)
    const legs = yield* ordersMadeAt(sql, context.legs)
    const { venueOrderId, trigger, triggeredAt } = context
    const isLast = window.until === Number.MAX_SAFE_INTEGER
    const left = all - trades.length
    const fills = trades.map(({ tradeId, price, qty, at }, index) =>
      step(
        "order",
        "FILL",
        at,
        `${qty} at ${price}, trade ${tradeId}.${index === 0 && left > 0 ? ` ${left} trades before it are left out.` : ""}`,
        state === "FILLED" && isLast && index === trades.length - 1 ? "complete" : "otherwise"
      )
    )
    return [
      ...(venueOrderId === null
        ? []
        : [
            step(
              "order",
              "ACKED",
              null,
              `The venue has it as ${venueOrderId}. The time of that report is not stored.`,
              trigger === null ? "otherwise" : "waits"
            )
          ]),
      // If the venue did not report the trigger, the time of the first trade shows that it fired, and no step is shown
      // for it.
      ...(triggeredAt === null || trades.some(({ at }) => at === triggeredAt)
        ? []
        : [step("order", "TRIGGERED", triggeredAt, "Its trigger was touched.")]),
      ...fills,
      ...[...new Set(legs.map(({ at }) => at))].map((at) =>
        step(
          "order",
          "ATTACHED",
          at,
          `Protected by ${legs
            .filter((leg) => leg.at === at)
            .map(({ orderId }) => orderId)
            .join(" and ")}.`
        )
      )
    ]
  })

const swapSteps: Reader = (sql, swap) =>
  Effect.gen(function* () {
    const { id, context } = swap as SwapRow
    const { asset, payments, corrections } = context
    const paidKey = (paymentId: number) => `swapSettle:${id}:${paymentId}`
    const feeKey = (correctionId: number) => `swapFee:${id}:${correctionId}`
    const posted = yield* postedAt(sql, [...payments.map(({ id: each }) => paidKey(each)), ...corrections.map(feeKey)])
    return [
      ...payments.map(({ id: paymentId, amount, at }) =>
        step(
          "swap",
          "PAID",
          posted.get(paidKey(paymentId)) ?? at,
          `${amount} ${asset}, payment ${paymentId} of the writer.`,
          "newPayment"
        )
      ),
      // A correction without an effect has no posting, so it gives no step.
      ...corrections.flatMap((correctionId) => {
        const at = posted.get(feeKey(correctionId))
        const reason = correctionId === 0 ? "The fee of the take." : `Correction ${correctionId} of the fee.`
        return at === undefined ? [] : [step("swap", "FEE", at, reason)]
      })
    ]
  })

/** The step behind each kind of a contract's notification. */
const warnings = {
  BARRIER_NEAR_KO: ["NEAR_KO", "The mark came near the barrier."],
  BARRIER_NEAR_TP: ["NEAR_TP", "The mark came near the take profit."],
  BARRIER_EXPIRY_SOON: ["EXPIRY_SOON", "It expires soon."]
} as const

const contractSteps: Reader = (sql, contract, window) =>
  Effect.gen(function* () {
    const { id, clientId, openedAt } = contract as ContractRow
    const alive = { ...window, from: Math.max(window.from, openedAt) }
    const notices = yield* noticesOf(sql, clientId, { ref: String(id), kinds: Object.keys(warnings) }, alive)
    const closes = yield* requestedCloses(sql, clientId, id, alive)
    return [
      ...notices.map(({ kind, at }) => {
        const [event, reason] = warnings[kind as keyof typeof warnings]
        return step("barrierContract", event, at, reason)
      }),
      ...closes.map(({ rfqId, at }) => step("barrierContract", "CLOSE_REQUESTED", at, `By the request ${rfqId}.`))
    ]
  })

const readers: { readonly [K in Kind]?: Reader } = {
  order: orderSteps,
  swap: swapSteps,
  barrierContract: contractSteps
}
