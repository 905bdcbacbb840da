/**
 * Converts service verdicts to answers of the operator surface: one table for refusals, one for failures of the engine (doc 1,
 * error registry; operator surface, exit status 1).
 */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { Json, JsonObject } from "../../machines/shared/Json.ts"
import { shownFaults } from "../../machines/shared/Limits.ts"
import { checkFields, type Refusal, shownErrors, type Verdict } from "../../machines/shared/Refusal.ts"
import type { Reason } from "../../machines/shared/RefusalReason.ts"
import { notAnObject } from "../../machines/shared/RequestBody.ts"
import type { DispatchError } from "../../runtime/engine/mailbox/ActorHost.ts"
import { operatorCommands } from "../api/operator/commands.ts"
import type { OperatorRole } from "../api/operator/operatorTokens.ts"
import { currentDryRun, type DryRunSummary } from "../../runtime/engine/mailbox/dryRun.ts"
import { type Change, currentWritten } from "../../runtime/engine/mailbox/written.ts"
import {
  envelopeOf,
  OperatorAway,
  OperatorConflict,
  OperatorDefect,
  type OperatorError,
  OperatorForbidden,
  OperatorInvalid,
  OperatorUnknown,
  OperatorUpstream
} from "../api/operator/OperatorErrors.ts"

/** The data of a refusal whose code has several reasons, with the reason first. */
export const withReason = (reason: Reason, data: JsonObject | null = null): Json => ({ reason, ...data })

/** The error on the operator surface for a refusal: status, code, sentence, and the reason where a code has several. */
export const refusalError = (refusal: Refusal): OperatorError => {
  switch (refusal._tag) {
    case "Invalid":
      return new OperatorInvalid(
        envelopeOf(
          4000,
          refusal.sentence,
          withReason(
            refusal.reason,
            refusal.errors === null ? null : { errors: shownErrors(refusal.errors, shownFaults.operator) }
          )
        )
      )
    case "Unknown":
      return new OperatorUnknown(envelopeOf(4004, refusal.sentence, withReason(refusal.reason)))
    case "Conflict":
      return new OperatorConflict(envelopeOf(4092, refusal.sentence, withReason(refusal.reason, refusal.data)))
    case "VenueAway":
      return new OperatorUpstream(envelopeOf(5020, refusal.sentence, withReason(refusal.reason)))
    case "NoVenue":
      return new OperatorAway(envelopeOf(5030, refusal.sentence, withReason("NO_VENUE")))
    case "TooManyBuilds": {
      const again = new Date(refusal.retryAt).toISOString()
      const sentence = `The client has had 30 statements made within an hour: the next can be made from ${again} on.`
      return new OperatorConflict(envelopeOf(4092, sentence, withReason("CLIENT_STATE", { retryAt: refusal.retryAt })))
    }
    case "TooLarge":
    case "Unverified":
    case "RelianceNotApproved":
    case "EmailTaken":
    case "MarginBreach":
    case "LeverageMismatch":
    case "RetakeTooEarly":
    case "KeyReused":
      // These refusals belong to the partner surface. An operator command that meets one answers without the refusal's
      // details.
      return new OperatorConflict(
        envelopeOf(4092, "The client's state does not allow this command.", withReason("CLIENT_STATE"))
      )
  }
}

export const fieldsError = (errors: Readonly<Record<string, string>>): OperatorInvalid =>
  new OperatorInvalid(
    envelopeOf(4000, checkFields, withReason("INVALID_FIELDS", { errors: shownErrors(errors, shownFaults.operator) }))
  )

/** The error for a body that is no JSON object. */
export const bodyError = (): OperatorInvalid =>
  new OperatorInvalid(envelopeOf(4000, notAnObject, withReason("INVALID_BODY")))

/**
 * Converts failures of the engine. `Unavailable` invites a retry, unless the command may have run already: a blind retry
 * would then run it twice. Every other failure is a defect.
 */
export const engineError = (error: DispatchError): Effect.Effect<never, OperatorError> => {
  if (error._tag !== "Unavailable") return defectError(error)
  if (!error.unknown) return Effect.fail(unavailable())
  return Effect.fail(
    new OperatorAway(
      envelopeOf(5030, "The outcome is not known: check the audit before repeating the command.", {
        reason: "OUTCOME_UNKNOWN",
        outcomeUnknown: true
      })
    )
  )
}

/** The error for a command that changed nothing; the operator may retry later. */
export const unavailable = (): OperatorAway =>
  new OperatorAway(envelopeOf(5030, "The service can't do this now. Please try again.", withReason("UNAVAILABLE")))

/** Logs the cause with an id, and answers only the id. */
export const defectError = (cause: unknown): Effect.Effect<never, OperatorDefect> => {
  const id = randomUUID()
  return Effect.andThen(
    Effect.logError(`an operator request failed by a defect: its caller gets 500 with id ${id}`, cause),
    Effect.fail(new OperatorDefect(envelopeOf(5000, "Something went wrong on our side.", { errorId: id })))
  )
}

/** {code: 0, data}; a dry run adds the changes that it would write. */
export interface Success<A> {
  readonly code: 0
  readonly data: A
  readonly dryRun?: DryRunSummary
  /** The changes of a command that writes: made, or planned in a dry run. */
  readonly changes?: ReadonlyArray<Change>
}

const success = <A>(data: A): Success<A> => {
  const dryRun = currentDryRun()
  if (dryRun !== null) return { code: 0, data: withoutKeys(data), dryRun: dryRun.summary(), changes: dryRun.changes() }
  const written = currentWritten()
  return written === null ? { code: 0, data } : { code: 0, data, changes: written.answer() }
}

/** Replaces a new key and its prefix by a placeholder: a dry run issues no key. */
export const withoutKeys = <A>(data: A): A => {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return data
  const { key, result, deed } = data as {
    readonly key?: unknown
    readonly result?: unknown
    readonly deed?: { readonly result: unknown }
  }
  const none = typeof key === "string" ? `${key.slice(0, 4)}(dry run)` : null
  return {
    ...data,
    ...(none === null ? {} : { key: none, prefix: none }),
    ...(result === undefined ? {} : { result: withoutKeys(result) }),
    ...(typeof deed !== "object" || deed === null ? {} : { deed: withoutKeys(deed) })
  }
}

/** Converts a service's verdict to {code: 0, data} or to the refusal. */
export const answer = <A>(effect: Effect.Effect<Verdict<A>, DispatchError>): Effect.Effect<Success<A>, OperatorError> =>
  effect.pipe(
    Effect.catch(engineError),
    Effect.flatMap((verdict) =>
      verdict.ok ? Effect.sync(() => success(verdict.value)) : Effect.fail(refusalError(verdict.refusal))
    )
  )

/** Like `answer`, for a service call that can't refuse. */
export const answerOf = <A>(effect: Effect.Effect<A, DispatchError>): Effect.Effect<Success<A>, OperatorError> =>
  effect.pipe(Effect.catch(engineError), Effect.map(success))

/** The refusal of a command that the key's role may not run; it names the roles that may. */
export const forbidden = (role: OperatorRole, command: string): OperatorForbidden => {
  const roles = operatorCommands.get(command)?.roles ?? []
  return new OperatorForbidden(
    envelopeOf(4034, `The role ${role} of this operator key may not run ${command}; these may: ${roles.join(", ")}.`)
  )
}
