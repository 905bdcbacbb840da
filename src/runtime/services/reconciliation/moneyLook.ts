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
import { lossIn } from "../venue/venueQuarantine.ts"
import type { ComparedMoney } from "./moneyComparison.ts"

/** The number of newest quarantined rows of an account that are searched for a loss of events. */
const lossesRead = 64

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

/** A sentence about events of the account that the venue no longer provides. They explain a difference of money. Null: none. */
export const lossOf = (
  stored: RowReads["Service"],
  { uid }: Pick<ClientRow, "uid">
): Effect.Effect<string | null, Unavailable> => {
  const ofAccount = [{ column: "account", value: uid }]
  return Effect.map(stored.page("venueQuarantine", ofAccount, { limit: lossesRead }), (rows) => {
    const losses = rows.filter(({ droppedAt }) => droppedAt === null).map(lossIn)
    return losses.find((loss) => loss !== null) ?? null
  })
}
