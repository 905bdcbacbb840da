/** Deposit notices: filed for one client, listed for one or all (doc 3, Deposit notice and Money write gates). */
import { Effect } from "effect"
import type { DepositNotice } from "../../machines/deposit/DepositNotice.ts"
import { Deposits } from "../../runtime/services/money/deposit/Deposits.ts"
import { DepositsApi } from "../api/DepositsApi.ts"
import { feature, handlersOf } from "./feature.ts"
import { done, orUnknown, writeAs } from "./handler.ts"

interface Filed {
  readonly status: 200 | 201
  readonly notice: DepositNotice
}

export const deposits = feature({
  api: DepositsApi,
  layer: Deposits.layer,
  handlers: Effect.map(Deposits, (deposits) =>
    handlersOf(DepositsApi, {
      file: writeAs(
        ({ status, notice }: Filed) => done(notice, status),
        ({ caller, params, body }, store) => deposits.file(caller, params.clientId, body, store)
      ),
      list: ({ caller, query }) => Effect.map(deposits.list(caller.partner.row.id, query), orUnknown),
      listOfClient: ({ caller, params: { clientId }, query }) =>
        Effect.map(deposits.list(caller.partner.row.id, { ...query, clientId }), orUnknown)
    })
  )
})
