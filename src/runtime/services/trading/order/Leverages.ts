/** The leverage of a client's perpetuals: read and chosen by the partner (doc 2, Leverage view and its endpoints; A2-50). */
import { Context, Effect, Layer } from "effect"
import { decodeLeverage } from "../../../../machines/order/LeverageBody.ts"
import type { LeverageWire } from "../../../../machines/order/OrderWire.ts"
import {
  accept,
  conflict,
  notOffered,
  refuse,
  type Refusal,
  unknown,
  type Verdict
} from "../../../../machines/shared/Refusal.ts"
import { invalidBody } from "../../../../machines/shared/RequestBody.ts"
import { ActorHost, type DispatchError, type StoreAnswer, type Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { chosenIn } from "../../account/perpHoldings.ts"
import { clientSubject, instanceOf, ownClient, readersClient } from "../../account/clientState.ts"
import { MarketFeed } from "../../market/MarketFeed.ts"
import { unreached } from "../../market/MarketReads.ts"
import { type Caller, partnerNow } from "../../partners/Caller.ts"
import { Directory } from "../../partners/Directory.ts"
import { chooseLeverage, leverageView } from "./leverageDecisions.ts"

/** A leverage write from the partner. */
export interface LeverageWrite {
  readonly clientId: number
  readonly body: unknown
  readonly store: StoreAnswer<Verdict<LeverageWire>>
}

export class Leverages extends Context.Service<
  Leverages,
  {
    view(caller: Caller, clientId: number, symbol: string): Effect.Effect<Verdict<LeverageWire>, Unavailable>
    /** Stores the choice in one turn. A choice that is already stored changes nothing, and gets the same response. */
    change(caller: Caller, write: LeverageWrite): Effect.Effect<Verdict<LeverageWire>, DispatchError>
  }
>()("brokerage/runtime/services/trading/order/Leverages") {
  static readonly layer = Layer.effect(
    Leverages,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const directory = yield* Directory
      const feed = yield* MarketFeed

      /** The refusal of a market without leverage: it is no perpetual, or no listing is known. */
      const marketRefusal = (symbol: string): Refusal | null =>
        unreached(feed) ?? (feed.mirror.markets.get(symbol)?.market.family === "PERP" ? null : notOffered)

      return Leverages.of({
        view: (caller, clientId, symbol) => {
          const refusal = marketRefusal(symbol)
          if (refusal !== null) return Effect.succeed(refuse(refusal))
          return host.read(clientSubject(clientId), (state, facts) => {
            const client = readersClient(state, caller.partner.row.id)
            return client === null ? refuse(noClient) : accept(leverageView(symbol, client, chosenIn(state), facts))
          })
        },
        change: (caller, { clientId, body, store }) => {
          const decoded = decodeLeverage(body)
          if (!decoded.ok) return Effect.succeed(refuse(invalidBody(decoded)))
          const choice = decoded.body
          const refusal = marketRefusal(choice.symbol)
          if (refusal !== null) return Effect.succeed(refuse(refusal))
          return host.dispatch<Verdict<LeverageWire>>({
            subject: clientSubject(clientId),
            by: caller.by,
            partner: () => directory.stamp(caller.partner.row.id),
            decide: (turn) => {
              const partner = partnerNow(directory, caller)
              const client = ownClient(turn.state, partner.row.id)
              if (client === null) return refuse(noClient)
              if (client.state === "CLOSED") return refuse(closed)
              return chooseLeverage({ turn, of: instanceOf(client, partner) }, client, choice)
            },
            store
          })
        }
      })
    })
  )
}

const noClient = unknown("Client")
const closed = conflict("ACCOUNT_CLOSED", "The account is closed.")
