/** The partner of a client in a turn without a caller: a timer's or the venue's. */
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { ClientRow } from "../../tables/client.ts"
import type { Directory, PartnerView } from "./Directory.ts"

/**
 * The partner as the turn must see it; null when there is none. The commit depends on it like a caller's commit: if
 * the partner has changed meanwhile, the commit is rejected and the turn decided again, so that every event has its
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
