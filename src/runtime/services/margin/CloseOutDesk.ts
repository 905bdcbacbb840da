/**
 * Lets staff widen a close-out: its orders may trade further from the mark than its steps and the account's equity allow
 * (operator surface, closeout widen; F9).
 */
import { Context, Effect, Layer } from "effect"
import { closeOutName } from "../../../machines/margin/CloseOut.ts"
import { type CloseOutWire, closeOutWire } from "../../../machines/margin/CloseOutWire.ts"
import { percentOf } from "../../../machines/margin/priceBound.ts"
import { MoneyDecimal } from "../../../machines/shared/Money.ts"
import {
  accept,
  conflict,
  invalidFields,
  type Refusal,
  refuse,
  unknown,
  type Verdict
} from "../../../machines/shared/Refusal.ts"
import { advance } from "../../effects/advance.ts"
import { ActorHost, type DispatchError, type Turn, type Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { RowReads } from "../../ports/RowReads.ts"
import type { CloseOutRow } from "../../tables/margin.ts"
import { clientSubject } from "../account/clientState.ts"
import { ownedTurn } from "../account/ownedTurn.ts"
import type { OperatorCaller } from "../shared/OperatorCaller.ts"
import { Directory } from "../partners/Directory.ts"
import { firstRow } from "../shared/firstRow.ts"

// A type instead of an interface, because the approval stores it as JSON.
export type WidenRequest = {
  readonly closeOutId: number
  /** The distance from the mark, in percent with at most two decimal places. */
  readonly to: string
  readonly reason: string
}

const noEpisode = unknown("Close-out")

export class CloseOutDesk extends Context.Service<
  CloseOutDesk,
  {
    /** Checks whether the close-out could be widened now. Returns the request to store. */
    check(request: WidenRequest): Effect.Effect<Verdict<WidenRequest>, Unavailable>
    /** Lets the orders of the close-out trade this far from the mark, within the venue's band, and logs an alarm. */
    widen(caller: OperatorCaller, request: WidenRequest): Effect.Effect<Verdict<CloseOutWire>, DispatchError>
  }
>()("brokerage/runtime/services/margin/CloseOutDesk") {
  static readonly layer = Layer.effect(
    CloseOutDesk,
    Effect.gen(function* () {
      const [host, stored, directory] = [yield* ActorHost, yield* RowReads, yield* Directory]
      const byId = (value: number): Effect.Effect<CloseOutRow | null, Unavailable> =>
        firstRow(stored, "closeOuts", [{ column: "id", value }])
      const widenIn = (turn: Turn, { closeOutId, to, reason }: WidenRequest): Verdict<CloseOutWire> => {
        const row = turn.state.get("closeOuts", String(closeOutId))
        if (row === undefined) return refuse(notClosing({ id: closeOutId, state: "DONE" }))
        const refusal = widenRefusal(row, to)
        if (refusal !== null) return refuse(refusal)
        const { of } = ownedTurn(turn, { directory })
        const event = { type: "WIDEN", bps: bpsOf(to), reason: `to ${to} %: ${reason}` } as const
        const next = advance(turn, "closeOuts", row, event, { of })
        if (next === null) throw new Error(`closeOut:${closeOutId} is not widened`)
        return accept(closeOutWire(next.state, next.context, turn.state.one("clients")?.uid ?? String(row.clientId)))
      }
      return CloseOutDesk.of({
        check: (request) =>
          Effect.map(byId(request.closeOutId), (row) => {
            const refusal = row === null ? noEpisode : widenRefusal(row, request.to)
            return refusal === null ? accept(request) : refuse(refusal)
          }),
        widen: (caller, request) =>
          Effect.gen(function* () {
            const row = yield* byId(request.closeOutId)
            if (row === null) return refuse(noEpisode)
            const widened = yield* host.dispatch({
              subject: clientSubject(row.clientId),
              by: caller.by,
              partner: () => directory.stamp(row.partnerId),
              decide: (turn) => widenIn(turn, request)
            })
            if (widened.ok) yield* Effect.logError(widenedAlarm(request))
            return widened
          })
      })
    })
  )
}

const widenedAlarm = ({ closeOutId, to, reason }: WidenRequest): string =>
  `staff widened ${closeOutName(closeOutId)} to ${percentOf(bpsOf(to))} from the mark (${reason}): the broker pays any cost beyond the account's equity; brokerage closeout show lists the orders of the close-out`

const percent = /^(0|[1-9][0-9]?)(\.[0-9]{1,2})?$/
const bpsOf = (to: string): number => new MoneyDecimal(to).mul(100).toNumber()

/** States in which a close-out makes progress by its orders. */
const widenable: ReadonlySet<string> = new Set(["CLOSING", "WAITING_MARK", "WAITING_MARKET"])

const notClosing = ({ id, state }: Pick<CloseOutRow, "id" | "state">): Refusal =>
  conflict("WRONG_STATE", `${closeOutName(id)} is ${state}: it has no position to close.`)

/** The refusal of a widening. Null: the close-out is live, and the new distance is larger than the present one. */
const widenRefusal = (row: CloseOutRow, to: string): Refusal | null => {
  if (!percent.test(to) || bpsOf(to) === 0) {
    return invalidFields({ to: "The distance must be a percentage above 0 and below 100 with at most two places." })
  }
  if (!widenable.has(row.state)) return notClosing(row)
  const { widenedBps } = row.context
  return bpsOf(to) > widenedBps
    ? null
    : conflict("WRONG_STATE", `${closeOutName(row.id)} may trade up to ${percentOf(widenedBps)} from the mark already.`)
}
