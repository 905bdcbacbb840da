/**
 * Registers a receiver as the partner's endpoint. Every registration rotates the secret, so a restarted receiver on another
 * port takes over in the same way (doc 3, PUT /webhook).
 */
import { Effect, Exit, Schema } from "effect"
import type { PartnerAnswer, PartnerClient, Unreachable } from "./PartnerClient.ts"
import type { WebhookReceiver } from "./WebhookReceiver.ts"

/** The service refused the request, or its answer is not that of PUT or GET /webhook. */
export class RegistrationRefused extends Schema.TaggedError<RegistrationRefused>()("RegistrationRefused", {
  status: Schema.Int,
  /** The JSON body of the service's answer, usually the envelope. */
  answer: Schema.Unknown
}) {}

const Endpoint = Schema.Struct({ url: Schema.String, active: Schema.Boolean, updatedAt: Schema.Int })
/** The partner's endpoint as the service has it. `updatedAt`: when it was last registered or switched off, Unix ms. */
export type Endpoint = typeof Endpoint.Type

const inEnvelope = <S extends Schema.Top>(data: S) => Schema.Struct({ code: Schema.Literal(0), data })
const secretOf = Schema.decodeUnknownExit(inEnvelope(Schema.Struct({ secret: Schema.String })))
const endpointOf = Schema.decodeUnknownExit(inEnvelope(Endpoint))

/** Registers the receiver. On success the receiver holds the secret; no other code needs it. */
export const registerWebhook = (
  client: PartnerClient,
  receiver: WebhookReceiver
): Effect.Effect<void, RegistrationRefused | Unreachable> =>
  Effect.asVoid(receiver.rotate(registerUrl(client, receiver.url)))

/** Makes the address the partner's endpoint; returns its new secret. */
export const registerUrl = (
  client: PartnerClient,
  url: string
): Effect.Effect<string, RegistrationRefused | Unreachable> =>
  Effect.flatMap(client.send({ method: "PUT", path: "/partner/v1/webhook", body: JSON.stringify({ url }) }), (answer) =>
    Effect.map(decoded(secretOf, answer), ({ secret }) => secret)
  )

/** The partner's endpoint; null when none was ever registered. */
export const readEndpoint = (
  client: PartnerClient
): Effect.Effect<Endpoint | null, RegistrationRefused | Unreachable> =>
  Effect.flatMap(client.send({ method: "GET", path: "/partner/v1/webhook" }), (answer) =>
    answer.status === 404 ? Effect.succeed(null) : decoded(endpointOf, answer)
  )

const decoded = <A>(
  decode: (answer: unknown) => Exit.Exit<{ readonly data: A }, unknown>,
  { status, body }: PartnerAnswer
): Effect.Effect<A, RegistrationRefused> => {
  const answer = jsonOf(body)
  const read = decode(answer)
  return Exit.isSuccess(read) && status === 200
    ? Effect.succeed(read.value.data)
    : Effect.fail(new RegistrationRefused({ status, answer }))
}

const jsonOf = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString("utf8"))
  } catch {
    return null
  }
}
