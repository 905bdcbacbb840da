/**
 * The partners that are being closed now. Meanwhile corrections by the operator are refused, because no booking may
 * come between the count of balances and the closing. Memory suffices, because only one process decides for a database
 * (the writer epoch, D15).
 */
import type { ActorHost } from "../../engine/mailbox/ActorHost.ts"

const closing = new WeakMap<ActorHost["Service"], Set<number>>()

/** The ids of the partners that are being closed now, one set for each host. The caller adds and removes an id. */
export const closingPartners = (host: ActorHost["Service"]): Set<number> => {
  let partners = closing.get(host)
  if (partners === undefined) closing.set(host, (partners = new Set()))
  return partners
}
