/**
 * The state of a client at one moment, in a turn or as committed, as input for checks of a request. Orders and requests
 * for quotes add their own parts (A2-91, A2-110).
 */
import type { Effect } from "effect"
import type { Facts } from "../../../machines/market/Facts.ts"
import type { PartnerStatus } from "../../../machines/partner/Partner.ts"
import type { BusinessClock } from "../../engine/clock/BusinessClock.ts"
import type { ActorHost, Turn, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import type { ClientRow } from "../../tables/client.ts"
import { clientSubject, readersClient } from "./clientState.ts"
import type { Directory } from "../partners/Directory.ts"
import { accountIn, accountInTurn, type AccountNow } from "./accountNow.ts"

export interface ClientMoment {
  readonly now: number
  readonly client: ClientRow
  readonly partnerState: PartnerStatus
  readonly state: SubjectState
  readonly account: AccountNow
  readonly facts: Facts
}

export type MomentOf = Pick<ClientMoment, "client" | "partnerState">

/** The client's state as the turn sees it. */
export const momentInTurn = (turn: Turn, of: MomentOf): ClientMoment => ({
  ...of,
  now: turn.now,
  state: turn.state,
  account: accountInTurn(turn, of.client),
  facts: turn.facts
})

/** The client's committed state, read outside a turn. */
export const momentAt = (
  state: SubjectState,
  facts: Facts,
  of: MomentOf & Pick<ClientMoment, "now">
): ClientMoment => ({ ...of, state, account: accountIn(state, facts), facts })

interface ClientReads {
  readonly host: ActorHost["Service"]
  readonly clock: BusinessClock["Service"]
  readonly directory: Directory["Service"]
}

/** Reads the committed state of a partner's client; null: the client is not the partner's. */
export const readOwnClient = <A>(
  { host, clock, directory }: ClientReads,
  partnerId: number,
  clientId: number,
  project: (state: SubjectState, facts: Facts, of: MomentOf & Pick<ClientMoment, "now">) => A
): Effect.Effect<A | null, Unavailable> =>
  host.readNow(clientSubject(clientId), (state, facts) => {
    const client = readersClient(state, partnerId)
    const partnerState = directory.partner(partnerId)?.row.state ?? "CLOSED"
    return client === null ? null : project(state, facts, { now: clock.now(), client, partnerState })
  })
