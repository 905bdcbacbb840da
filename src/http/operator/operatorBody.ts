/**
 * What an operator's body must be before its fields are looked at: within its command's cap, JSON that is safe to hand
 * on, and no dry run asked for in the wrong place (doc 1, Limits: body caps; A1-01; operator surface, rules). Read once;
 * the command's own decoder finds the bytes kept by the request.
 */
import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, type HttpServerRequest } from "effect/http"
import { isRecord } from "../../machines/shared/Fields.ts"
import { bodyCaps } from "../../machines/shared/Limits.ts"
import { operatorCommands } from "../api/operator/commands.ts"
import { envelopeOf, OperatorInvalid, OperatorTooLarge } from "../api/operator/OperatorErrors.ts"
import { notJson, parseBody } from "../middleware/parseBody.ts"
import { gateRefusals } from "../../machines/shared/wireRefusal.ts"
import { bodyError, fieldsError, withReason } from "./toOperatorError.ts"

/** Refuses a body that its command must not see. Dies when the body could not be read to its end. */
export const judgeBody = (
  request: HttpServerRequest.HttpServerRequest,
  command: string
): Effect.Effect<void, OperatorInvalid | OperatorTooLarge> =>
  Effect.flatMap(bodyBytes(request, operatorCommands.get(command)?.bodyCap ?? bodyCaps.operator), (bytes) => {
    // Some commands need none; the others say what is missing.
    if (bytes.length === 0) return Effect.void
    const parsed = parseBody(bytes)
    if (!parsed.ok) {
      return Effect.fail(
        parsed.sentence === notJson
          ? bodyError()
          : new OperatorInvalid(envelopeOf(4000, parsed.sentence, withReason("INVALID_BODY")))
      )
    }
    const misplaced = isRecord(parsed.value) ? Object.keys(parsed.value).find(meansDryRun) : undefined
    return misplaced === undefined ? Effect.void : Effect.fail(fieldsError({ [misplaced]: inQuery }))
  })

const bodyBytes = (
  request: HttpServerRequest.HttpServerRequest,
  cap: number
): Effect.Effect<Uint8Array, OperatorTooLarge> => {
  if (Number(request.headers["content-length"] ?? 0) > cap) return Effect.fail(tooLarge())
  return request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(cap)),
    Effect.map((buffer) => new Uint8Array(buffer)),
    Effect.catch((error) =>
      error.reason._tag === "RequestParseError" && error.reason.reason === "BodyTooLarge"
        ? Effect.fail(tooLarge())
        : Effect.die(error)
    )
  )
}

const tooLarge = (): OperatorTooLarge =>
  new OperatorTooLarge(envelopeOf(gateRefusals.routeCap.code, gateRefusals.routeCap.msg, withReason("BODY_TOO_LARGE")))

const inQuery = "A dry run is requested in the query: ?dryRun=true."

/** Whether a name can only have been meant as the dry run's, however it is spelled. */
export const meansDryRun = (name: string): boolean => /^dryrun$/i.test(name.replace(/[^a-z]/gi, ""))
