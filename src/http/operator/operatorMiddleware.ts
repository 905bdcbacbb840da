/**
 * Runs before every operator route: the gates (key, role, dry run, body), then the validation of the fields. The key's
 * SHA-256 is looked up in the directory in memory, so a revoked key stops working with the commit of its revocation (operator
 * surface, rules).
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, Layer, Redacted, SchemaIssue } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import type { IncomingMessage } from "node:http"
import { pageBudget, readTimes, shownFaults } from "../../machines/shared/Limits.ts"
import { hashKey } from "../../runtime/services/shared/Secret.ts"
import { operatorCaller, type OperatorCaller } from "../../runtime/services/shared/OperatorCaller.ts"
import { ActorHost, Unavailable } from "../../runtime/engine/mailbox/ActorHost.ts"
import { CurrentDryRun, DryRun } from "../../runtime/engine/mailbox/dryRun.ts"
import { CurrentWritten, Written } from "../../runtime/engine/mailbox/written.ts"
import { withinTime } from "../../runtime/engine/withinTime.ts"
import { Directory } from "../../runtime/services/partners/Directory.ts"
import { type OperatorPrincipal, principalOfOperator } from "../../runtime/services/partners/Principal.ts"
import { RowReads } from "../../runtime/ports/RowReads.ts"
import { isWriting, mayRun, operatorCommands } from "../api/operator/commands.ts"
import {
  envelopeOf,
  type OperatorAway,
  type OperatorForbidden,
  type OperatorInvalid,
  type OperatorTooLarge,
  OperatorUnauthorized
} from "../api/operator/OperatorErrors.ts"
import { CurrentOperator, OperatorAuthorization, OperatorFields } from "../api/operator/OperatorSecurity.ts"
import { PageLane } from "../middleware/PageLane.ts"
import { requestIdOf } from "../middleware/requestId.ts"
import { presentedGoodKey } from "../middleware/UnreadBodies.ts"
import { judgeBody, meansDryRun } from "./operatorBody.ts"
import { bodyError, fieldsError, forbidden, unavailable } from "./toOperatorError.ts"

/** One operator request on its way through the gates. */
interface OperatorExchange {
  readonly request: HttpServerRequest.HttpServerRequest
  /** The operator key as the request sent it. */
  readonly sent: string
  readonly command: string
  readonly method: string
  principal: OperatorPrincipal | null
  dryRun: boolean
}

type OperatorRefusal = OperatorUnauthorized | OperatorForbidden | OperatorInvalid | OperatorTooLarge
type OperatorGate = (
  exchange: OperatorExchange,
  directory: Directory["Service"]
) => Effect.Effect<void, OperatorRefusal> | null

const unauthorized = () => new OperatorUnauthorized(envelopeOf(4010, "Authentication required."))

const operatorKeyGate: OperatorGate = (exchange, directory) => {
  const key = exchange.sent.startsWith("bok_") ? directory.operatorKey(hashKey(exchange.sent)) : null
  if (key === null) return Effect.fail(unauthorized())
  exchange.principal = principalOfOperator(operatorCaller(key, requestIdOf(exchange.request.headers["x-request-id"])))
  presentedGoodKey(NodeHttpServerRequest.toIncomingMessage(exchange.request) as IncomingMessage)
  return null
}

const roleGate: OperatorGate = ({ principal, command }) =>
  principal === null || mayRun(principal.caller.role, command)
    ? null
    : Effect.fail(forbidden(principal.caller.role, command))

const dryRunGate: OperatorGate = (exchange) => {
  const requested = dryRunOf(exchange.request.url)
  if (requested === null) return Effect.fail(fieldsError({ dryRun: "It must be true or false." }))
  if (requested && operatorCommands.get(exchange.command)?.audited === true)
    return Effect.fail(fieldsError({ dryRun: noDryRead }))
  exchange.dryRun = requested
  return null
}

const bodyGate: OperatorGate = ({ request, method, command }) => (method === "GET" ? null : judgeBody(request, command))

/** Gates of the operator surface in their order. */
const operatorGates: ReadonlyArray<OperatorGate> = [operatorKeyGate, roleGate, dryRunGate, bodyGate]

export const OperatorAuthorizationLayer = Layer.effect(
  OperatorAuthorization,
  Effect.gen(function* () {
    const directory = yield* Directory
    const stored = yield* RowReads
    const host = yield* ActorHost
    // The operator's lane is separate from that of partners, so that neither waits for the other.
    const pages = new PageLane(() => host.stats().waiting > 0)
    return OperatorAuthorization.of({
      bearer: (httpEffect, { credential, endpoint, group }) =>
        Effect.gen(function* () {
          const exchange: OperatorExchange = {
            request: yield* HttpServerRequest.HttpServerRequest,
            sent: Redacted.value(credential),
            command: `${group.identifier} ${endpoint.identifier}`,
            method: endpoint.method,
            principal: null,
            dryRun: false
          }
          for (const gate of operatorGates) {
            const refusing = gate(exchange, directory)
            if (refusing !== null) yield* refusing
          }
          const { principal, dryRun } = exchange
          if (principal === null) return yield* unauthorized()
          const { keyId, role, by } = principal.caller
          const operator = { keyId, role, label: by.keyLabel, requestId: by.requestId }
          const work = inTurn(httpEffect, pages, principal, exchange)
          return yield* Effect.provideService(work, CurrentOperator, operator).pipe(
            Effect.provideService(CurrentDryRun, dryRun ? new DryRun(stored.holders) : null),
            Effect.provideService(CurrentWritten, isWriting(exchange.command) && !dryRun ? new Written() : null)
          )
        })
    })
  })
)

/**
 * Runs a read in its turn among the operator's reads. The read has a timeout, so that the operator gets an answer even when
 * the database gives none. A read that may scan any number of rows counts as a principal's complete share. Long reads and
 * reads without a query skip the lane. Reads yield to writes.
 */
const inTurn = <A, E, R>(
  work: Effect.Effect<A, E, R>,
  pages: PageLane,
  { id }: OperatorPrincipal,
  { request, method, command }: OperatorExchange
): Effect.Effect<A, E | OperatorAway, R> => {
  if (method !== "GET") return pages.before(work)
  const rules = operatorCommands.get(command)
  if (rules?.lasts === true || rules?.resident === true) return work
  const isHeavy = rules?.heavy === true || sends(request.url, rules?.scanning ?? [])
  const page = pages.run(id, isHeavy ? pageBudget.share : pageBudget.operatorRows, {
    read: () => work,
    render: (answer) => answer
  })
  return withinTime(
    Effect.mapError(page, (error) => (error instanceof Unavailable ? unavailable() : error)),
    unavailable,
    readTimes.operator
  )
}

/** Whether the query has one of these names. */
const sends = (url: string, names: ReadonlyArray<string>): boolean => {
  const query = new URLSearchParams(url.slice(url.indexOf("?") + 1))
  return names.some((name) => query.has(name))
}

const noDryRead = "Who reads this is written down: it can't be read in a dry run."

/**
 * Whether the query requests a dry run; null when that is unclear. Every spelling of the name counts, and a variant
 * (dryRun[]) is refused, because an intended dry run must never be executed.
 */
const dryRunOf = (url: string): boolean | null => {
  const query = url.indexOf("?")
  if (query === -1) return false
  let requested = false
  for (const [name, value] of new URLSearchParams(url.slice(query + 1))) {
    if (!meansDryRun(name)) continue
    if (!/^dry[-_]?run$/i.test(name) || (value !== "true" && value !== "false")) return null
    requested ||= value === "true"
  }
  return requested
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

export const OperatorFieldsLayer = HttpApiMiddleware.layerSchemaErrorTransform(OperatorFields, (error) => {
  if (error.kind === "Body" || error.kind === "ResponseHeaders") return Effect.fail(error) // an invalid response: a defect
  const errors: Record<string, string> = {}
  // Limited to the faults that an answer shows, because a list of wrong entries gives thousands.
  for (const issue of format(error.cause.issue).issues.slice(0, shownFaults.operator)) {
    // An issue of the whole body has no field to name.
    if (error.kind === "Payload" && (issue.path ?? []).length === 0) return Effect.fail(bodyError())
    errors[(issue.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".")] ??=
      issue.message
  }
  return Effect.fail(fieldsError(errors))
})

/** The operator of this request, for services. */
export const currentCaller: Effect.Effect<OperatorCaller, never, CurrentOperator> = Effect.map(
  CurrentOperator,
  ({ keyId, role, label, requestId }) => ({ keyId, role, by: { role, keyLabel: label, requestId, actor: role } })
)
