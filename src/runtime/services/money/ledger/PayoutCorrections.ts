/**
 * Corrects payouts that an older version booked under PARTNER custody, at start (decision record 13). They were booked
 * as if the partner had paid: a collateral withdrawal without a report and without an item, so no debt was recorded for
 * the money that the partner still holds. Written rows do not change: the withdrawal is reversed, and the payout is
 * booked again as a MANUAL posting of minus the amount with its settlement item. The client's balance stays the same.
 *
 * Both bookings are one commit under the payout's own keys, so a start after a crash continues. Only money under
 * PARTNER custody can have an item: payouts of partners that have left this model since, or were closed, are named in
 * the log.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { formatAmount } from "../../../../machines/shared/Money.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import { ActorHost, type Attribution } from "../../../engine/mailbox/ActorHost.ts"
import { clientSubject, instanceOf } from "../../account/clientState.ts"
import { Directory } from "../../partners/Directory.ts"
import { type OldPayout, oldPayouts } from "../../../store/reads/ledgerReads.ts"

const by: Attribution = { role: "SYSTEM", keyLabel: "start", requestId: "start", actor: "system:corrections" }
const reason = "The service paid this out and not the partner, which still holds the money and owes it."

/** Corrects the payouts that `oldPayouts` finds; needs the partners in memory. */
export const layerPayoutCorrections: Layer.Layer<never, never, ActorHost | Directory | PgClient.PgClient> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      for (const found of yield* oldPayouts(sql)) yield* correct(found)
    }).pipe(Effect.orDie)
  )

const correct = ({ payout, client_id, partner_id, minor }: OldPayout) =>
  Effect.gen(function* () {
    const host = yield* ActorHost
    const directory = yield* Directory
    const partnerId = Number(partner_id)
    const row = directory.partner(partnerId)?.row
    if (row?.custodyModel !== "PARTNER" || row.state === "CLOSED") {
      return yield* Effect.logWarning(
        `payout ${payout} of client ${client_id}, ${formatAmount(minor, "USDC")} USDC, was booked as if partner ${partner_id} had paid it, and the partner has left PARTNER custody since: settle the payout outside of the books`
      )
    }
    return yield* host.dispatch({
      subject: clientSubject(Number(client_id)),
      by,
      partner: () => directory.stamp(partnerId),
      decide: (turn) => {
        const client = turn.state.one("clients")
        const partner = directory.partner(partnerId)
        if (client === undefined || partner === null) throw new Error(`payout ${payout} belongs to no client`)
        const instance = instanceOf(client, partner)
        const [reversed, owed] = [turn.nextId("transaction"), turn.nextId("transaction")]
        const refs = { payoutId: Number(payout) }
        const amount = formatAmount(minor, "USDC")
        const posting = { type: "ledger.post", currency: "USDC", reason, refs } as const
        applyEffects(turn, { ...instance, txId: reversed }, [
          { ...posting, entry: "PARTNER_COLLATERAL_OUT", key: `payout:${payout}:reversed`, amount }
        ])
        applyEffects(turn, { ...instance, object: `ledgerTransaction:${owed}`, txId: owed }, [
          { ...posting, entry: "MANUAL", key: `payout:${payout}:owed`, amount: `-${amount}` },
          { type: "audit", action: "client.payoutCorrected", before: `payout ${payout}`, after: amount, reason }
        ])
      }
    })
  })
