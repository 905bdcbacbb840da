/**
 * Counts and client cash over all clients of a partner, declared once for the contract and for the service (doc 1, Summary;
 * A1-13).
 */
import { Schema } from "effect"
import { lifecycleStates } from "./Client.ts"
import { verificationLevels } from "../verification/Blocks.ts"
import { Currency } from "../shared/Currency.ts"

const count = Schema.Int
const countsOf = <const K extends string>(keys: ReadonlyArray<K>) =>
  Schema.Struct(Object.fromEntries(keys.map((key) => [key, count])) as Record<K, typeof count>)

/** The data of the answer to GET /summary. */
export const PartnerSummary = Schema.Struct({
  asOf: Schema.Int.annotate({ description: "When this was read, Unix ms." }),
  clients: Schema.Struct({ total: count, byState: countsOf(lifecycleStates), byLevel: countsOf(verificationLevels) }),
  clientCash: Schema.Array(
    Schema.Struct({ currency: Currency, cash: Schema.String, reserved: Schema.String, total: Schema.String })
  ).annotate({ description: "Every currency with a nonzero balance, USDC always." }),
  openBarriers: count,
  openSwaps: count,
  pendingDeposits: count,
  pendingWithdrawals: count,
  pendingReviews: count.annotate({ description: "KYC packages in SPOT_CHECK or DOCUMENTS_REQUESTED." })
}).annotate({ identifier: "PartnerSummary" })
export type PartnerSummary = typeof PartnerSummary.Type
