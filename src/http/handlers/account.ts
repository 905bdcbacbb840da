/**
 * The account of one client: balances now or at an earlier time, summary, overview, ledger, notifications (doc 2, Account
 * reads).
 */
import { Effect, Layer } from "effect"
import { Accounts } from "../../runtime/services/account/Accounts.ts"
import { Notifications } from "../../runtime/services/account/Notifications.ts"
import { AccountApi } from "../api/AccountApi.ts"
import { toWire } from "../../machines/shared/wireRefusal.ts"
import { feature, handlersOf } from "./feature.ts"
import { doneUntil, orRefused, orUnknown, refused, sharedOrUnknown } from "./handler.ts"

export const account = feature({
  api: AccountApi,
  layer: Layer.mergeAll(Accounts.layer, Notifications.layer),
  handlers: Effect.gen(function* () {
    const accounts = yield* Accounts
    const notifications = yield* Notifications
    return handlersOf(AccountApi, {
      balances: ({ caller, params: { clientId }, query: { at } }) => {
        const partnerId = caller.partner.row.id
        return at === undefined
          ? Effect.mapEager(accounts.balances(partnerId, clientId), sharedOrUnknown)
          : Effect.map(accounts.balancesAt(partnerId, clientId, at), orUnknown)
      },
      summary: ({ caller, params }) => Effect.map(accounts.summary(caller.partner.row.id, params.clientId), orUnknown),
      overview: ({ caller, params }) =>
        Effect.mapEager(accounts.overview(caller.partner.row.id, params.clientId), orRefused),
      ledger: ({ caller, params, query }) =>
        Effect.map(accounts.ledger(caller.partner.row.id, params.clientId, query), orUnknown),
      notifications: ({ exchange, caller, params, query }) =>
        Effect.map(notifications.feed(caller.partner.row.id, params.clientId, query), (verdict) => {
          if (!verdict.ok) return refused(toWire(verdict.refusal))
          const { answer, next } = verdict.value
          return doneUntil(answer, next === null ? null : `${exchange.path}?since=${next.since}&after=${next.after}`)
        })
    })
  })
})
