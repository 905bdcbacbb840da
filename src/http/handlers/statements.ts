/** Statements: request, list, read the model, download files that browsers may cache (doc 2, Statements; STS-16, STS-32). */
import { Effect, Layer } from "effect"
import type { StatementRow } from "../../runtime/tables/statement.ts"
import { StatementFiles } from "../../runtime/services/statements/StatementFiles.ts"
import { Statements } from "../../runtime/services/statements/Statements.ts"
import { unknown } from "../../machines/shared/Refusal.ts"
import { StatementsApi } from "../api/StatementsApi.ts"
import type { Exchange } from "../middleware/Exchange.ts"
import { fileHeaders, has } from "../statementHeaders.ts"
import { gateRefusals, toWire } from "../../machines/shared/wireRefusal.ts"
import { feature, handlersOf } from "./feature.ts"
import { done, doneUntil, doneWith, refused, unchanged, write } from "./handler.ts"

const noStatement = refused(toWire(unknown("Statement")))

export const statements = feature({
  api: StatementsApi,
  layer: Layer.merge(Statements.layer, StatementFiles.layer),
  handlers: Effect.gen(function* () {
    const service = yield* Statements
    const files = yield* StatementFiles

    const found = <A>(
      {
        caller,
        params
      }: {
        readonly caller: { readonly partner: { readonly row: { readonly id: number } } }
        readonly params: { readonly clientId: number; readonly sid: number }
      },
      answer: (row: StatementRow) => A
    ) =>
      Effect.map(service.find(caller.partner.row.id, params.clientId, params.sid), (row) =>
        row === null ? noStatement : answer(row)
      )

    const file = (exchange: Exchange, row: StatementRow, form: "pdf" | "csv") => {
      const headers = fileHeaders(row, form)
      return has(exchange.request.headers["if-none-match"], headers.etag)
        ? unchanged(headers)
        : doneWith(files.file(row, form), headers)
    }

    return handlersOf(StatementsApi, {
      list: ({ exchange, caller, params, query }) =>
        Effect.map(service.list(caller.partner.row.id, params.clientId, query), (page) => {
          if (page === null) return refused(gateRefusals.unknownClient)
          const { nextBefore, statements } = page
          const kind = query.kind === undefined ? "" : `&kind=${query.kind}`
          const next = nextBefore === null ? null : `${exchange.path}?before=${nextBefore}&limit=${query.limit}${kind}`
          return doneUntil({ statements }, next)
        }),
      generate: write(({ caller, params, body }) => service.generate(caller, params.clientId, body)),
      get: (input) => found(input, (row) => done(files.detail(row))),
      pdf: (input) => found(input, (row) => file(input.exchange, row, "pdf")),
      csv: (input) => found(input, (row) => file(input.exchange, row, "csv"))
    })
  })
})
