/** Collateral reports: filed for one client, listed for one or all (doc 3, Collateral report and its rules). */
import { Effect } from "effect"
import type { CollateralAnswer } from "../../machines/collateral/CollateralReport.ts"
import { CollateralReports } from "../../runtime/services/money/collateral/CollateralReports.ts"
import { CollateralApi } from "../api/CollateralApi.ts"
import { feature, handlersOf } from "./feature.ts"
import { done, orUnknown, writeAs } from "./handler.ts"

interface Reported {
  readonly status: 200 | 201
  readonly data: CollateralAnswer
}

export const collateral = feature({
  api: CollateralApi,
  layer: CollateralReports.layer,
  handlers: Effect.map(CollateralReports, (reports) =>
    handlersOf(CollateralApi, {
      report: writeAs(
        ({ status, data }: Reported) => done(data, status),
        ({ caller, params, body }, store) => reports.report(caller, params.clientId, body, store)
      ),
      list: ({ caller, query }) => Effect.map(reports.list(caller.partner.row.id, query), orUnknown),
      listOfClient: ({ caller, params: { clientId }, query }) =>
        Effect.map(reports.list(caller.partner.row.id, { ...query, clientId }), orUnknown)
    })
  )
})
