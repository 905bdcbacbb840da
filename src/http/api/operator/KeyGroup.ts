/** Partner API keys: shown once when issued, listed by prefix, revoked for ever (operator surface; D17; A1-06). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { apiKeyStatuses } from "../../../machines/partner/ApiKey.ts"
import { nameText, text, token } from "../../../machines/shared/Fields.ts"
import { admin, everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { ApprovalPending, Millis, OptionalBody, Reference } from "./OperatorFieldSchemas.ts"
import { keyScopes } from "./operatorTokens.ts"

export const KeyView = Schema.Struct({
  keyId: Schema.Int,
  partnerId: Schema.Int,
  label: Schema.String,
  prefix: Schema.String,
  scope: Schema.Literals(keyScopes),
  status: Schema.Literals(apiKeyStatuses),
  createdAt: Millis,
  revokedAt: Schema.NullOr(Millis),
  lastUsedAt: Schema.NullOr(Millis)
})

/** The only answer that contains a partner key. */
export const IssuedKey = Schema.Struct({
  keyId: Schema.Int,
  key: Schema.String,
  prefix: Schema.String,
  label: Schema.String,
  scope: Schema.Literals(keyScopes)
})

export const KeyBody = Schema.Struct({ label: nameText("The label", 64), scope: token("The scope", keyScopes) })

export class KeyGroup extends HttpApiGroup.make("key").add(
  HttpApiEndpoint.post("issue", "/partners/:partner/keys", {
    params: { partner: Reference },
    payload: KeyBody,
    success: Answer(Schema.Union([ApprovalPending, IssuedKey]))
  }).pipe(openTo(admin, { fourEyes: "usual" })),
  HttpApiEndpoint.get("list", "/partners/:partner/keys", {
    params: { partner: Reference },
    success: Answer(Schema.Struct({ keys: Schema.Array(KeyView) }))
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.get("show", "/keys/:keyId", {
    params: { keyId: Reference },
    success: Answer(KeyView)
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.post("revoke", "/keys/:keyId/revoke", {
    params: { keyId: Reference },
    payload: OptionalBody({ reason: Schema.optionalKey(text("The reason", 500)) }),
    success: Answer(KeyView)
  }).pipe(openTo(admin))
) {}
