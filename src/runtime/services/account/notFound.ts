/** What is answered of a thing of a client's that is not there: a client that is none of the partner's comes first. */
import { Effect } from "effect"
import { type Refusal, unknown } from "../../../machines/shared/Refusal.ts"
import type { ActorHost, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { clientSubject, readersClient } from "./clientState.ts"

const noClient = unknown("Client")

/** `thing`: the refusal of a client that is the partner's, but has no such thing. */
export const notFound = (
  host: ActorHost["Service"],
  { partnerId, clientId, thing }: { readonly partnerId: number; readonly clientId: number; readonly thing: Refusal }
): Effect.Effect<Refusal, Unavailable> =>
  host.read(clientSubject(clientId), (state) => (readersClient(state, partnerId) === null ? noClient : thing))
