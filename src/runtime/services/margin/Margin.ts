/** A client's margin as partners read it, worked out on the marks of the moment (doc 2, Margin picture; F4, F7). */
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
     * Refused without a venue, and for a client that is none of the partner's. The same object for as long as it says the same:
     * do not change it.
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
 * By the risk that they show, which is another object as soon as a row of its account or a mark that it uses is another: what many
 * readers ask for meanwhile is made, and written as JSON, once.
 */
const pictures = new WeakMap<AccountRisk, MarginPicture>()

/** The margin of a client, as it is committed. */
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

/** What figures on live marks answer without a market. */
