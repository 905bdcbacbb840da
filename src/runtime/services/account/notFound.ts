/**
 * The refusal of a request that names a missing object of a client. If the client belongs to another partner, the
 * refusal reports the client itself as missing.
 */
import { Effect } from "effect"
import { type Refusal, unknown } from "../../../machines/shared/Refusal.ts"
import type { ActorHost, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { clientSubject, readersClient } from "./clientState.ts"

const noClient = unknown("Client")

/** `thing`: the refusal for a client that belongs to the partner but has no such object. */
export const notFound = (
  host: ActorHost["Service"],
  { partnerId, clientId, thing }: { readonly partnerId: number; readonly clientId: number; readonly thing: Refusal }
): Effect.Effect<Refusal, Unavailable> =>
  host.read(clientSubject(clientId), (state) => (readersClient(state, partnerId) === null ? noClient : thing))
