/** The encryption keys at rest, by number and without key material, and their rotation (operator surface). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { admin, everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"

export class EncryptionGroup extends HttpApiGroup.make("encryption").add(
  HttpApiEndpoint.get("show", "/encryption", {
    success: Answer(
      Schema.Struct({
        current: Schema.Int,
        keys: Schema.Array(Schema.Struct({ number: Schema.Int, sealedValues: Schema.Int })),
        resealing: Schema.Struct({ running: Schema.Boolean, remaining: Schema.Int })
      })
    )
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.post("rotate", "/encryption/rotate", {
    success: Answer(Schema.Struct({ previous: Schema.Int, current: Schema.Int }))
  }).pipe(openTo(admin))
) {}
