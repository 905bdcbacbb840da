/**
 * Registers a receiver as the partner's endpoint. Every registration rotates the secret, so a restarted receiver on another
 * port takes over in the same way (doc 3, PUT /webhook).
 */
import { Effect, Exit, Schema } from "effect"
import type { PartnerClient, Unreachable } from "./PartnerClient.ts"
import type { WebhookReceiver } from "./WebhookReceiver.ts"

/** The service refused the registration, or its answer holds no secret. */
export class RegistrationRefused extends Schema.TaggedError<RegistrationRefused>()("RegistrationRefused", {
  status: Schema.Int,
  /** The JSON body of the service's answer, usually the envelope. */
  answer: Schema.Unknown
}) {}

const Registration = Schema.Struct({ code: Schema.Literal(0), data: Schema.Struct({ secret: Schema.String }) })
const decode = Schema.decodeUnknownExit(Registration)

/** Registers the receiver. On success the receiver holds the secret; no other code needs it. */
export const registerWebhook = (
  client: PartnerClient,
  receiver: WebhookReceiver
): Effect.Effect<void, RegistrationRefused | Unreachable> =>
  Effect.asVoid(
    receiver.rotate(
      Effect.flatMap(
        client.send({ method: "PUT", path: "/partner/v1/webhook", body: JSON.stringify({ url: receiver.url }) }),
        ({ status, body }) => {
          const answer = jsonOf(body)
          const registered = decode(answer)
          return Exit.isSuccess(registered) && status === 200
            ? Effect.succeed(registered.value.data.secret)
            : Effect.fail(new RegistrationRefused({ status, answer }))
        }
      )
    )
  )

const jsonOf = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString("utf8"))
  } catch {
    return null
  }
}
