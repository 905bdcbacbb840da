/**
 * The checks before every operator route: authentication by the operator key with its role, then the fields. Both are
 * declared here, so that the typed client sends the key and knows all errors (operator surface, rules).
 */
import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import {
  OperatorAway,
  OperatorForbidden,
  operatorErrors,
  OperatorTooLarge,
  OperatorUnauthorized
} from "./OperatorErrors.ts"
import type { OperatorRole } from "./operatorTokens.ts"

/** The operator of a request. Partners may see the role; the label stays in the audit. */
export class CurrentOperator extends Context.Service<
  CurrentOperator,
  {
    readonly keyId: number
    readonly role: OperatorRole
    readonly label: string
    readonly requestId: string
  }
>()("brokerage/http/CurrentOperator") {}

/**
 * Bearer bok_…: 401 code 4010 without a live key, 403 code 4034 when the role may not run the command, 413 code 4000 for a
 * body over the command's cap, 503 code 5030 for a read that exceeds its timeout.
 */
export class OperatorAuthorization extends HttpApiMiddleware.Service<
  OperatorAuthorization,
  { provides: CurrentOperator }
>()("brokerage/http/OperatorAuthorization", {
  requiredForClient: true,
  security: { bearer: HttpApiSecurity.bearer },
  error: [OperatorUnauthorized, OperatorForbidden, OperatorTooLarge, OperatorAway]
}) {}

/** Turns a request that does not decode into 400 code 4000, with one sentence per field. */
export class OperatorFields extends HttpApiMiddleware.Service<OperatorFields>()("brokerage/http/OperatorFields", {
  error: [...operatorErrors]
}) {}
