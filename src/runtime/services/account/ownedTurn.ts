/** Builds the input of the handlers of venue events in a client's turn: the turn, and the owner of its effects. */
import type { OwnedTurn } from "../../effects/Instance.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { oneInTurn } from "../../engine/mailbox/turnRows.ts"
import type { Directory } from "../partners/Directory.ts"
import { partnerOfTurn } from "../partners/partnerOfTurn.ts"
import { instanceOf } from "./clientState.ts"

/** Throws if the turn's subject has no client. `parts`: further dependencies of the event handler. */
export const ownedTurn = <Parts extends { readonly directory: Directory["Service"] }>(
  turn: Turn,
  parts: Parts
): Parts & OwnedTurn => {
  const client = oneInTurn(turn, "clients")
  const partner = client === undefined ? null : partnerOfTurn(turn, parts.directory, client)
  if (client === undefined || partner === null) throw new Error(`${turn.state.subject} has no client`)
  return { ...parts, turn, of: instanceOf(client, partner) }
}
