/**
 * Registers a receiver as the partner's endpoint (doc 3, PUT /webhook). Every registration rotates the secret, so it is
 * also how a receiver that was started again, on another port, takes over.
 */
import { Effect, Exit, Schema } from "effect"
import type { PartnerClient, Unreachable } from "./PartnerClient.ts"
import type { WebhookReceiver } from "./WebhookReceiver.ts"

/** The service answered, and not with a registration. */
export class RegistrationRefused extends Schema.TaggedError<RegistrationRefused>()("RegistrationRefused", {
  status: Schema.Int,
  /** The body as JSON: the envelope, when it is the brokerage. */
  answer: Schema.Unknown
}) {}

const Registration = Schema.Struct({ code: Schema.Literal(0), data: Schema.Struct({ secret: Schema.String }) })
const decode = Schema.decodeUnknownExit(Registration)

/** The receiver knows the secret when this succeeds; nobody else has to. */
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
