/**
 * Withdrawal requests: file and cancel for one client, list for one or all (doc 3, Withdrawal request and Money write gates).
 */
import { Effect } from "effect"
import type { WithdrawalRequest } from "../../machines/withdrawal/WithdrawalRequest.ts"
import { Withdrawals } from "../../runtime/services/money/withdrawal/Withdrawals.ts"
import { WithdrawalsApi } from "../api/WithdrawalsApi.ts"
import { toWire } from "../../machines/shared/wireRefusal.ts"
import { feature, handlersOf } from "./feature.ts"
import { done, orUnknown, write, writeAs } from "./handler.ts"

interface Filed {
  readonly status: 200 | 201
  readonly request: WithdrawalRequest
}

export const withdrawals = feature({
  api: WithdrawalsApi,
  layer: Withdrawals.layer,
  handlers: Effect.map(Withdrawals, (withdrawals) =>
    handlersOf(WithdrawalsApi, {
      request: writeAs(
        ({ status, request }: Filed) => done(request, status),
        ({ caller, params, body, text }, store) => withdrawals.file(caller, params.clientId, body, store, text),
        { verbatim: true }
      ),
      cancel: write(({ caller, params }, store) => withdrawals.cancel(caller, params.clientId, params.rid, store), {
        lookUp: ({ caller, params }) =>
          Effect.map(withdrawals.missing(caller, params.clientId, params.rid), (refusal) =>
            refusal === null ? null : toWire(refusal)
          )
      }),
      list: ({ caller, query }) => Effect.map(withdrawals.list(caller.partner.row.id, query), orUnknown),
      listOfClient: ({ caller, params: { clientId }, query }) =>
        Effect.map(withdrawals.list(caller.partner.row.id, { ...query, clientId }), orUnknown)
    })
  )
})
