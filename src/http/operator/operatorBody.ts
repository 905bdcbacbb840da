/**
 * Validates an operator's body before its fields are decoded: the command's cap, safe JSON, and no dry run in the body. The
 * body is read once; the decoder of the command uses the cached bytes (doc 1, Limits: body caps; A1-01; operator surface,
 * rules).
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

/** Refuses an invalid body. Dies when the body could not be read to its end. */
export const judgeBody = (
  request: HttpServerRequest.HttpServerRequest,
  command: string
): Effect.Effect<void, OperatorInvalid | OperatorTooLarge> =>
  Effect.flatMap(bodyBytes(request, operatorCommands.get(command)?.bodyCap ?? bodyCaps.operator), (bytes) => {
    // A command without required fields needs no body; for the others, the decoder names the missing fields.
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

/** Whether a name is any spelling of `dryRun`. */
export const meansDryRun = (name: string): boolean => /^dryrun$/i.test(name.replace(/[^a-z]/gi, ""))
