/**
 * Staking swaps of all clients for staff, and write-offs of claims that are no longer expected to be paid. The view is the
 * partners' view with the client, the payments and the corrections (operator surface, swap; D8, STS-6).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { parseId } from "../../../../machines/shared/Ids.ts"
import { formatAmount, minorOf, parsePositiveAmount } from "../../../../machines/shared/Money.ts"
import {
  accept,
  conflict,
  invalidFields,
  type Refusal,
  refuse,
  unknown,
  type Verdict
} from "../../../../machines/shared/Refusal.ts"
import { cleanText } from "../../../../machines/shared/Text.ts"
import type { SwapPayment, SwapState } from "../../../../machines/swap/Swap.ts"
import type { SwapWire } from "../../../../machines/swap/SwapWire.ts"
import { ActorHost, type DispatchError, type Turn, type Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { type Condition, cutPage, onePast, type PageEnd, type PageQuery } from "../../../store/paging.ts"
import type { SwapRow } from "../../../tables/swap.ts"
import { clientSubject } from "../../account/clientState.ts"
import { findClient } from "../../account/findClient.ts"
import { ownedTurn } from "../../account/ownedTurn.ts"
import type { OperatorCaller } from "../../shared/OperatorCaller.ts"
import { Directory } from "../../partners/Directory.ts"
import { firstRow } from "../../shared/firstRow.ts"
import { Recall } from "../../account/Recall.ts"
import { assetOf, stepSwap } from "./swapDecisions.ts"
import { swapWire } from "./swapView.ts"

export type SwapView = SwapWire & {
  readonly clientId: number
  readonly clientUid: string
  readonly payments: ReadonlyArray<SwapPayment>
  /** Ids of the booked fee corrections. 0: the fee of the take itself was corrected. */
  readonly corrections: ReadonlyArray<number>
}

// A type instead of an interface, because the approval stores it as JSON.
export type WriteOffRequest = {
  readonly swapId: number
  readonly amount: string
  readonly reason: string
  /** Data of the swap for the approver. The service adds them to the stored request. */
  readonly asset?: string
  readonly clientUid?: string
}

type Found<A> = Effect.Effect<Verdict<A>, Unavailable>

export interface SwapDeskQuery extends PageQuery {
  readonly client?: string
  readonly state?: SwapState
}

export class SwapDesk extends Context.Service<
  SwapDesk,
  {
    /** Swaps of all clients, newest first. */
    list(query: SwapDeskQuery): Found<PageEnd & { readonly swaps: ReadonlyArray<SwapView> }>
    /** Finds a swap by the service's id. */
    show(id: string): Found<SwapView>
    /** Checks whether the claim could be written off now. Returns the request to store. */
    check(request: WriteOffRequest): Found<WriteOffRequest>
    writeOff(caller: OperatorCaller, request: WriteOffRequest): Effect.Effect<Verdict<SwapView>, DispatchError>
  }
>()("brokerage/runtime/services/trading/swap/SwapDesk") {
  static readonly layer = Layer.effect(
    SwapDesk,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const sql = yield* PgClient.PgClient
      const stored = yield* RowReads
      const directory = yield* Directory
      const recall = new Recall(stored)

      const byId = (id: number): Found<SwapRow> =>
        Effect.map(firstRow(stored, "swaps", [{ column: "id", value: id }]), (row) =>
          row === null ? noSwap : accept(row)
        )
      const writeOffIn = (turn: Turn, { swapId, amount, reason }: WriteOffRequest): Verdict<SwapView> => {
        const row = recall.row(turn, "swaps", swapId)
        if (row === null) return noSwap
        const refusal = writeOffRefusal(row, amount)
        if (refusal !== null) return refuse(refusal)
        const written = formatAmount(minorOf(amount, assetOf(row)), assetOf(row))
        const event = { type: "WRITE_OFF", at: turn.now, amount: written, reason: cleanText(reason) } as const
        const next = stepSwap(ownedTurn(turn, { directory }), row, event)
        if (next === null) throw new Error(`swap:${swapId} takes no write-off`)
        return accept(swapView(next))
      }

      return SwapDesk.of({
        list: ({ client, state, ...query }) =>
          Effect.gen(function* () {
            const found = client === undefined ? null : yield* findClient(host, sql, client)
            if (found?.ok === false) return found
            const conditions: ReadonlyArray<Condition> = [
              ...(found === null ? [] : [{ column: "client_id", value: found.value.id }]),
              ...(state === undefined ? [] : [{ column: "state", value: state }])
            ]
            const rows = yield* stored.page("swaps", conditions, onePast(query))
            const { shown, end } = cutPage(rows, query.limit, ({ id }) => id)
            return accept({ swaps: shown.map(swapView), ...end })
          }),
        show: (text) => {
          const id = parseId(text.replace(/^S-/, ""))
          return id === undefined
            ? Effect.succeed(noSwap)
            : Effect.map(byId(id), (found) => (found.ok ? accept(swapView(found.value)) : found))
        },
        check: (request) =>
          Effect.map(byId(request.swapId), (found) => {
            if (!found.ok) return found
            const refusal = writeOffRefusal(found.value, request.amount)
            const { asset, account: clientUid } = found.value.context
            return refusal === null ? accept({ ...request, asset, clientUid }) : refuse(refusal)
          }),
        writeOff: (caller, request) =>
          Effect.flatMap(byId(request.swapId), (found) =>
            found.ok
              ? host.dispatch({
                  subject: clientSubject(found.value.clientId),
                  by: caller.by,
                  partner: () => directory.stamp(found.value.partnerId),
                  decide: (turn) => writeOffIn(turn, request)
                })
              : Effect.succeed(found)
          )
      })
    })
  )
}

const noSwap = refuse(unknown("Swap"))

/** The reason to refuse a write-off, or null. Only a claim can be written off, up to its amount. */
const writeOffRefusal = (row: SwapRow, amount: string): Refusal | null => {
  const minor = parsePositiveAmount(amount, assetOf(row))
  if (typeof minor === "string") return invalidFields({ amount: minor })
  if (row.state !== "DEFAULTED")
    return conflict("WRONG_STATE", `The swap is ${row.state}: only a claim is written off.`)
  const { claim, asset } = swapWire(row)
  if (minor <= minorOf(claim, asset)) return null
  return conflict("EXCEEDS_CLAIM", `The claim is ${claim} ${asset}: no more can be written off.`, { claim })
}

const swapView = (row: SwapRow): SwapView => ({
  ...swapWire(row),
  clientId: row.clientId,
  clientUid: row.context.account,
  payments: row.context.payments,
  corrections: row.context.corrections
})
