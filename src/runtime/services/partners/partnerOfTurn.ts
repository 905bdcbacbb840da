/** The partner of a client in a turn that has no caller, but was started by a timer or by the venue. */
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { ClientRow } from "../../tables/client.ts"
import type { Directory, PartnerView } from "./Directory.ts"

/**
 * The partner as the turn must see it; null: there is none. As in a caller's turn, the commit depends on the partner:
 * if the partner has changed in between, the commit is rejected and the turn is decided again. So every event gets its
 * delivery.
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
