/** The accounts that are nearest to a close-out in a market, at the present marks (operator surface, margin watch; F8). */
import { decimalText } from "../../../machines/shared/Money.ts"
import { Context, Effect, Layer } from "effect"
import { isGoingOn } from "../../../machines/margin/CloseOut.ts"
import { isFresh } from "../../../machines/market/Facts.ts"
import { fullSymbol } from "../../../machines/market/fullSymbol.ts"
import {
  type NearAccount,
  nearAccountOf,
  type NearAccounts,
  nearestFirst
} from "../../../machines/margin/nearAccounts.ts"
import { accept, refuse, unknown, type Verdict } from "../../../machines/shared/Refusal.ts"
import { ActorHost, type Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { noVenue, recordedIn } from "../account/accountNow.ts"
import { clientSubject } from "../account/clientState.ts"
import { marginPictureIn } from "./Margin.ts"
import { RiskStates } from "../account/RiskStates.ts"
import { RiskWatch } from "./RiskWatch.ts"

/**
 * How many times `limit` accounts are read. The index orders by headroom, which is only similar to the order of close-outs.
 */
const overFetch = 4
const atOnce = 16

export class MarginWatch extends Context.Service<
  MarginWatch,
  {
    /**
     * The `limit` nearest accounts of a market that is listed or in which an account has a position. `symbol` may be
     * short (BTC-PERP). Refused without a venue.
     */
    near(symbol: string, limit: number): Effect.Effect<Verdict<NearAccounts>, Unavailable>
  }
>()("brokerage/runtime/services/margin/MarginWatch") {
  static readonly layer = Layer.effect(
    MarginWatch,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const { index } = yield* RiskWatch
      const states = yield* RiskStates
      const standing = (clientId: number, symbol: string): Effect.Effect<NearAccount | null, Unavailable> =>
        host.readNow(clientSubject(clientId), (state, facts) => {
          const client = state.one("clients")
          if (client === undefined) return null
          const episode = state.all("closeOuts").find(isGoingOn)
          const whose = { clientUid: client.uid, recorded: recordedIn(state), closeOutId: episode?.id ?? null }
          return nearAccountOf(marginPictureIn(state, client, facts), symbol, whose)
        })
      return MarginWatch.of({
        near: Effect.fnUntraced(function* (named, limit) {
          const symbol = fullSymbol(named)
          const { takenAt, marks, instruments } = host.facts()
          if (takenAt === null) return noVenue
          const holders = index.holders(symbol)
          if (holders === 0 && instruments.get(symbol)?.family !== "PERP") return refuse(unknown("Market"))
          const grave = states.watched().filter((clientId) => index.has(clientId))
          const candidates = new Set([
            ...index.nearest(symbol, limit * overFetch),
            ...grave.slice(0, limit * overFetch)
          ])
          const found = yield* Effect.forEach(candidates, (clientId) => standing(clientId, symbol), {
            concurrency: atOnce
          })
          const mark = marks.get(symbol)
          const accounts = found.filter((each) => each !== null).toSorted(nearestFirst)
          return accept({
            asOf: takenAt,
            symbol,
            mark: mark === undefined ? null : decimalText(mark.price, mark.places),
            markFresh: mark !== undefined && isFresh(mark, takenAt),
            holders,
            accounts: accounts.slice(0, limit)
          })
        })
      })
    })
  )
}
