/** Money of one client: balances now or at an earlier moment, the summary and the ledger (doc 2, Account reads). */
import { Effect } from "effect"
import { Accounts } from "../../runtime/services/account/Accounts.ts"
import { AccountApi } from "../api/AccountApi.ts"
import { feature, handlersOf } from "./feature.ts"
import { orUnknown } from "./handler.ts"

export const account = feature({
  api: AccountApi,
  layer: Accounts.layer,
  handlers: Effect.map(Accounts, (accounts) =>
    handlersOf(AccountApi, {
      balances: ({ caller, params: { clientId }, query: { at } }) => {
        const partnerId = caller.partner.row.id
        return Effect.map(
          at === undefined ? accounts.balances(partnerId, clientId) : accounts.balancesAt(partnerId, clientId, at),
          orUnknown
        )
      },
      summary: ({ caller, params }) => Effect.map(accounts.summary(caller.partner.row.id, params.clientId), orUnknown),
      ledger: ({ caller, params, query }) =>
        Effect.map(accounts.ledger(caller.partner.row.id, params.clientId, query), orUnknown)
    })
  )
})
