/**
 * A client's stored rows about the venue, as a look of the comparison. It takes no turn and sums no history. It reads one row for
 * each currency, one of the totals and one of the account, each by the client's key, all from one snapshot (A2-103).
 */
import { Effect } from "effect"
import type { VenueAccount } from "../../../machines/venue/venueObjects.ts"
import { currencyCodes } from "../../../machines/shared/Currency.ts"
import type { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import type { ClientRow } from "../../store/tables/client.ts"
import type { ComparedMoney } from "./moneyComparison.ts"

export const moneyOf = (
  stored: RowReads["Service"],
  { id: clientId }: ClientRow,
  account: VenueAccount | null
): Effect.Effect<ComparedMoney, Unavailable> =>
  Effect.map(
    stored.together(["venueAccounts", "accountTotals", "balances"], clientId, currencyCodes.length),
    ({ venueAccounts: [taken], accountTotals: [totals], balances }) => ({
      clientId,
      ours: { balances, totals },
      taken: taken?.sequence ?? 0,
      account
    })
  )
