/**
 * What a client has of the venue as stored rows have it: a look of the comparison (A2-103). It takes no turn and adds up no
 * history: a row of each currency, one of its totals, one of its account, each by the client's own key, all of one snapshot.
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
