/** Handlers of the statement commands: each is one call of a service (operator surface). */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { pageLimits } from "../../machines/shared/Limits.ts"
import { cleanText } from "../../machines/shared/Text.ts"
import { parseId } from "../../machines/shared/Ids.ts"
import { JobReads } from "../../runtime/services/statements/jobs/JobReads.ts"
import { StatementDesk } from "../../runtime/services/statements/StatementDesk.ts"
import { StatementGroup } from "../api/operator/StatementGroup.ts"
import { OperatorApi } from "../api/OperatorApi.ts"
import { operatorFeature } from "./operatorFeature.ts"
import { currentCaller } from "./operatorMiddleware.ts"
import { onObject } from "./onObject.ts"
import { answer, answerOf, engineError, refusalError } from "./toOperatorError.ts"

const statementHandlers = HttpApiBuilder.group(
  OperatorApi,
  "statement",
  Effect.fnUntraced(function* (handlers) {
    const desk = yield* StatementDesk
    const jobs = yield* JobReads
    return handlers.handleAll({
      list: ({ params, query: { limit = pageLimits.statements.default, ...rest } }) =>
        answer(desk.list(params.client, { limit, ...rest })),
      generate: ({ params, payload }) =>
        Effect.flatMap(currentCaller, (caller) => answer(desk.generate(caller, params.client, payload))),
      get: ({ params, query }) =>
        Effect.catch(desk.file(parseId(params.statementId) ?? 0, query.format), engineError).pipe(
          Effect.flatMap((verdict) =>
            verdict.ok ? Effect.succeed(verdict.value) : Effect.fail(refusalError(verdict.refusal))
          )
        ),
      correct: ({ params, payload }) =>
        onObject("Statement", params.statementId, (caller, statementId) =>
          desk.correct(caller, statementId, cleanText(payload.reason))
        ),
      jobs: ({ query: { limit = pageLimits.statements.default, ...rest } }) => answerOf(jobs.list({ limit, ...rest })),
      verify: ({ params }) => answer(desk.prove(params.statement))
    })
  })
)

export const statement = operatorFeature({
  api: StatementGroup,
  layer: Layer.merge(StatementDesk.layer, JobReads.layer),
  handlers: statementHandlers
})
