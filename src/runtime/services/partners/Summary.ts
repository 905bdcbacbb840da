/** GET /summary: counts and client cash of a partner (A1-13). */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { type LifecycleState, lifecycleStates } from "../../../machines/client/Client.ts"
import { type VerificationLevel, verificationLevels } from "../../../machines/verification/Blocks.ts"
import type { PartnerSummary } from "../../../machines/client/PartnerSummary.ts"
import { currencyCodes } from "../../../machines/shared/Currency.ts"
import { formatAmount } from "../../../machines/shared/Money.ts"
import { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import {
  clientCash,
  clientCounts,
  openContracts,
  openSwaps,
  pendingDeposits,
  pendingReviews,
  pendingWithdrawals
} from "../../store/reads/partnerReads.ts"

export class Summary extends Context.Service<
  Summary,
  { of(partnerId: number): Effect.Effect<PartnerSummary, Unavailable> }
>()("brokerage/runtime/services/partners/Summary") {
  static readonly layer = Layer.effect(
    Summary,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const clock = yield* BusinessClock
      return Summary.of({
        of: (partnerId) =>
          Effect.gen(function* () {
            const counts = yield* clientCounts(sql, partnerId)
            const cash = yield* clientCash(sql, partnerId)
            const reviews = yield* pendingReviews(sql, partnerId)
            const deposits = yield* pendingDeposits(sql, partnerId)
            const withdrawals = yield* pendingWithdrawals(sql, partnerId)
            const contracts = yield* openContracts(sql, partnerId)
            const swaps = yield* openSwaps(sql, partnerId)
            const sumBy = (test: (row: (typeof counts)[number]) => boolean) =>
              counts.filter(test).reduce((sum, row) => sum + Number(row.n), 0)
            const cashOf = new Map(cash.map((row) => [row.currency, row]))
            return {
              asOf: clock.now(),
              clients: {
                total: sumBy(() => true),
                byState: Object.fromEntries(
                  lifecycleStates.map((state) => [state, sumBy((row) => row.state === state)])
                ) as Record<LifecycleState, number>,
                byLevel: Object.fromEntries(
                  verificationLevels.map((level) => [level, sumBy((row) => row.level === level)])
                ) as Record<VerificationLevel, number>
              },
              clientCash: currencyCodes.flatMap((currency) => {
                const row = cashOf.get(currency)
                const spendable = BigInt(row?.cash ?? 0)
                const reserved = BigInt(row?.reserved ?? 0)
                if (currency !== "USDC" && spendable === 0n && reserved === 0n) return []
                return [
                  {
                    currency,
                    cash: formatAmount(spendable, currency),
                    reserved: formatAmount(reserved, currency),
                    total: formatAmount(spendable + reserved, currency)
                  }
                ]
              }),
              openBarriers: contracts,
              openSwaps: swaps,
              pendingDeposits: deposits,
              pendingWithdrawals: withdrawals,
              pendingReviews: reviews
            }
          }).pipe(Effect.mapError(() => new Unavailable({ unknown: false })))
      })
    })
  )
}
