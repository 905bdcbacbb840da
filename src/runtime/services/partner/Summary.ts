/** GET /summary: counts and client cash of a partner (doc 1; A1-13). */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import {
  type LifecycleState,
  lifecycleStates,
  type VerificationLevel,
  verificationLevels
} from "../../../machines/client/Client.ts"
import type { PartnerSummary } from "../../../machines/partner/PartnerSummary.ts"
import { type Currency, currencyCodes } from "../../../machines/shared/Currency.ts"
import { formatAmount } from "../../../machines/shared/Money.ts"
import { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { BusinessClock } from "../../engine/clock/BusinessClock.ts"

export class Summary extends Context.Service<
  Summary,
  { of(partnerId: number): Effect.Effect<PartnerSummary, Unavailable> }
>()("brokerage/runtime/services/partner/Summary") {
  static readonly layer = Layer.effect(
    Summary,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const clock = yield* BusinessClock
      const query = <Row extends object>(text: string, partnerId: number) =>
        Effect.mapError(sql.unsafe<Row>(text, [BigInt(partnerId)]), () => new Unavailable({ unknown: false }))
      return Summary.of({
        of: (partnerId) =>
          Effect.gen(function* () {
            const counts = yield* query<{
              readonly state: LifecycleState
              readonly level: VerificationLevel
              readonly n: bigint
            }>("SELECT state, level, count(*) AS n FROM clients WHERE partner_id = $1 GROUP BY state, level", partnerId)
            const cash = yield* query<{
              readonly currency: Currency
              readonly cash: string
              readonly reserved: string
            }>(
              "SELECT currency, sum(cash) AS cash, sum(reserved) AS reserved FROM balances WHERE partner_id = $1 GROUP BY currency",
              partnerId
            )
            const reviews = yield* query<{ readonly n: bigint }>(
              "SELECT count(*) AS n FROM kyc_packages k JOIN clients c ON c.id = k.client_id WHERE k.partner_id = $1 AND k.state IN ('SPOT_CHECK', 'DOCUMENTS_REQUESTED') AND c.state NOT IN ('KYC_REJECTED', 'CLOSED')",
              partnerId
            )
            const deposits = yield* query<{ readonly n: bigint }>(
              "SELECT count(*) AS n FROM deposit_notices WHERE partner_id = $1 AND state = 'PENDING'",
              partnerId
            )
            const withdrawals = yield* query<{ readonly n: bigint }>(
              "SELECT count(*) AS n FROM withdrawal_requests WHERE partner_id = $1 AND state IN ('REQUESTED', 'APPROVED')",
              partnerId
            )
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
              openBarriers: 0,
              openSwaps: 0,
              pendingDeposits: Number(deposits[0]?.n ?? 0),
              pendingWithdrawals: Number(withdrawals[0]?.n ?? 0),
              pendingReviews: Number(reviews[0]?.n ?? 0)
            }
          })
      })
    })
  )
}
