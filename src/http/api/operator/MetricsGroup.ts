/** The service's own metrics in the Prometheus text format (operator surface, metrics). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { everyone, openTo } from "./CommandRules.ts"

export class MetricsGroup extends HttpApiGroup.make("metrics").add(
  HttpApiEndpoint.get("show", "/metrics", {
    success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/plain; version=0.0.4; charset=utf-8" }))
  }).pipe(openTo(everyone, { resident: true }))
) {}
