/** A client's margin for partners, computed at the present marks (doc 2, Margin picture; F4, F7). */
import { accountIn, noVenue } from "../account/accountNow.ts"
import { Context, Effect, Layer } from "effect"
import type { AccountRisk } from "../../../machines/margin/accountRisk.ts"
import { type MarginPicture, marginPictureOf } from "../../../machines/margin/marginPicture.ts"
import type { Facts } from "../../../machines/market/Facts.ts"
import { accept, refuse, unknown, type Verdict } from "../../../machines/shared/Refusal.ts"
import { ActorHost, type Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import type { ClientRow } from "../../tables/client.ts"
import { contractsIn } from "../trading/contract/contractDecisions.ts"
import { clientSubject, readersClient, usdcBalance } from "../account/clientState.ts"

export class Margin extends Context.Service<
  Margin,
  {
    /**
     * Refused without a venue, and for another partner's client. Unchanged figures return the same cached object: do not mutate
     * it.
     */
    picture(partnerId: number, clientId: number): Effect.Effect<Verdict<MarginPicture>, Unavailable>
  }
>()("brokerage/runtime/services/margin/Margin") {
  static readonly layer = Layer.effect(
    Margin,
    Effect.map(ActorHost, (host) =>
      Margin.of({
        picture: (partnerId, clientId) =>
          host.readNow(clientSubject(clientId), (state, facts) => {
            const client = readersClient(state, partnerId)
            if (client === null) return refuse(unknown("Client"))
            if (facts.takenAt === null) return noVenue
            return accept(marginPictureIn(state, client, facts))
          })
      })
    )
  )
}

/**
 * Pictures by risk object. A change of an account's row or of a mark that it uses makes a new risk object. So concurrent readers
 * of the same figures share one picture and its JSON text.
 */
const pictures = new WeakMap<AccountRisk, MarginPicture>()

/** The margin of a client's committed state. */
export const marginPictureIn = (state: SubjectState, client: ClientRow, facts: Facts): MarginPicture => {
  const { risk } = accountIn(state, facts)
  const found = pictures.get(risk)
  if (found !== undefined) return found
  const line = usdcBalance(state)
  const made = marginPictureOf({
    clientId: client.id,
    categorization: client.categorization,
    cash: line?.cash ?? 0n,
    reserved: line?.reserved ?? 0n,
    barriers: contractsIn(state).length,
    openOrders: state.all("orders").length,
    instruments: facts.instruments,
    risk
  })
  pictures.set(risk, made)
  return made
}
