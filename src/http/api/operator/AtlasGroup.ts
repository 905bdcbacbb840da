/** The way into the atlas: a link that opens it in a browser (operator surface, atlas). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Millis } from "./OperatorFieldSchemas.ts"

export class AtlasGroup extends HttpApiGroup.make("atlas").add(
  HttpApiEndpoint.get("link", "/atlas/link", {
    // Sealed, short-lived, never the key: what a browser writes into its history opens nothing tomorrow.
    success: Answer(Schema.Struct({ path: Schema.String, expiresAt: Millis }))
  }).pipe(openTo(everyone))
) {}
