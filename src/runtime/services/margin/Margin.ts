/** A client's margin as partners read it, worked out on the marks of the moment (doc 2, Margin picture; F4, F7). */
import { Context, Effect, Layer } from "effect"
import { type MarginPicture, marginPictureOf } from "../../../machines/margin/marginPicture.ts"
import { accept, refuse, unknown, type Verdict } from "../../../machines/shared/Refusal.ts"
import { ActorHost, type Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { accountIn } from "../account/accountNow.ts"
import { perpsIn } from "../account/perpHoldings.ts"
import { contractsIn } from "../barrier/contractDecisions.ts"
import { clientSubject, ownClient, usdcBalance } from "../client/clientState.ts"

export class Margin extends Context.Service<
  Margin,
  {
    /** Refused without a venue, and for a client that is none of the partner's. */
    picture(partnerId: number, clientId: number): Effect.Effect<Verdict<MarginPicture>, Unavailable>
  }
>()("brokerage/runtime/services/margin/Margin") {
  static readonly layer = Layer.effect(
    Margin,
    Effect.map(ActorHost, (host) =>
      Margin.of({
        picture: (partnerId, clientId) =>
          host.read(clientSubject(clientId), (state, facts) => {
            const client = ownClient(state, partnerId)
            if (client === null) return refuse(unknown("Client"))
            if (facts.takenAt === null) return noVenue
            const line = usdcBalance(state)
            return accept(
              marginPictureOf({
                clientId,
                categorization: client.categorization,
                cash: line?.cash ?? 0n,
                reserved: line?.reserved ?? 0n,
                barriers: contractsIn(state).length,
                openOrders: state.all("orders").length,
                perpetuals: perpsIn(state, client, facts),
                instruments: facts.instruments,
                risk: accountIn(state, facts).risk
              })
            )
          })
      })
    )
  )
}

const noVenue = refuse({ _tag: "NoVenue", sentence: "No venue is attached to this service." } as const)
