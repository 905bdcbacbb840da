/**
 * Ends every turn with the steps that its client's protected orders need, and raises an alarm for each leg that the
 * venue refused. It is a layer of its own, because it must be registered before the first turn (D7).
 */
import { Clock, Effect, Latch, Layer } from "effect"
import type { Unplaced } from "../../../../machines/order/Attachment.ts"
import { ActorHost, type Turn } from "../../../engine/mailbox/ActorHost.ts"
import { oneInTurn } from "../../../engine/mailbox/turnRows.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import type { AttachmentRow } from "../../../tables/order.ts"
import { instanceOf } from "../../account/clientState.ts"
import { KindRate } from "../../market/KindRate.ts"
import { Directory } from "../../partners/Directory.ts"
import { partnerOfTurn } from "../../partners/partnerOfTurn.ts"
import { Recall } from "../../account/Recall.ts"
import { enforce, subscribe } from "../../../subscriptions.ts"
import { protectInTurn } from "./protection.ts"

/** The most log lines a minute for one reason, and the most refusals that wait to be logged. */
const mostLogged = 10
const mostWaiting = 1_000

export const layerProtection = Layer.effectDiscard(
  Effect.gen(function* () {
    const directory = yield* Directory
    const recall = new Recall(yield* RowReads)
    const host = yield* ActorHost
    enforce(host, "layerProtection", (turn) => {
      const client = oneInTurn(turn, "clients")
      if (client === undefined || !mayProtect(turn)) return
      const partner = partnerOfTurn(turn, directory, client)
      if (partner !== null) protectInTurn({ turn, of: instanceOf(client, partner), recall })
    })
    const clock = yield* Clock.Clock
    const rate = new KindRate(() => clock.currentTimeMillisUnsafe(), mostLogged)
    const waiting: Array<Effect.Effect<void>> = []
    const some = Latch.makeUnsafe(false)
    subscribe(host, "layerProtection", {
      attachments: (row) => {
        for (const failed of failedNow(row)) {
          refusedLegs++
          const more = rate.pass(failed.reason)
          if (more === null || waiting.length === mostWaiting) continue
          waiting.push(alarm(row, failed, more))
          some.openUnsafe()
        }
      }
    })
    const alarms = Effect.suspend(() => {
      some.closeUnsafe()
      return Effect.all(waiting.splice(0), { discard: true })
    })
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(some.await, alarms), { disableYield: true }))
  })
)

const mayProtect = ({ state, draft }: Turn): boolean =>
  state.all("attachments").length > 0 ||
  draft.written("attachments").length > 0 ||
  draft.written("orders").some(({ context }) => context.attach !== null)

let refusedLegs = 0
/** Refused attempts to place a leg, for metrics. */
export const refusedLegCount = (): number => refusedLegs

/** The legs whose refusal this commit records for the first time. */
const failedNow = ({ context: { standing, updatedAt } }: AttachmentRow): ReadonlyArray<Unplaced> =>
  standing.unplaced.filter(({ failedAt }) => failedAt === updatedAt)

const alarm = ({ id, clientId }: AttachmentRow, { role, orderId, attempts, reason }: Unplaced, more: number) =>
  Effect.annotateLogs(
    Effect.logError("the venue refused a leg that protects a position: the service places the leg again"),
    {
      leg: role,
      order: orderId,
      parent: id,
      client: clientId,
      attempts,
      reason,
      ...(more === 0 ? {} : { more })
    }
  )
