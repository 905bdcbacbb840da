/** The endpoint that makes a signed link into the atlas for a browser (operator surface, atlas). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Millis } from "./OperatorFieldSchemas.ts"

export class AtlasGroup extends HttpApiGroup.make("atlas").add(
  HttpApiEndpoint.get("link", "/atlas/link", {
    // The path contains a signed ticket that expires soon, never the key, so that the entry in a browser's history is useless
    // later.
    success: Answer(Schema.Struct({ path: Schema.String, expiresAt: Millis }))
  }).pipe(openTo(everyone))
) {}
