/** The keys of what is encrypted at rest, by number: never a key itself (architecture, At rest: rotation by command). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
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
  }),
  HttpApiEndpoint.post("rotate", "/encryption/rotate", {
    success: Answer(Schema.Struct({ previous: Schema.Int, current: Schema.Int }))
  })
) {}
