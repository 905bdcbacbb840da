/** The partner of a client whose turn nobody asked for: a timer's, the venue's. */
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { ClientRow } from "../../tables/client.ts"
import type { Directory, PartnerView } from "./Directory.ts"

/**
 * The partner as the turn is to see it, null when there is none. The commit rests on it like a caller's: it is refused, and the
 * turn decided again, when the partner has moved meanwhile, so that every event has its delivery (doc 3, Webhook registration).
 */
export const partnerOfTurn = (
  turn: Turn,
  directory: Directory["Service"],
  { partnerId }: Pick<ClientRow, "partnerId">
): PartnerView | null => {
  const partner = directory.partner(partnerId)
  if (partner !== null) turn.draft.restOn(directory.stamp(partnerId))
  return partner
}
