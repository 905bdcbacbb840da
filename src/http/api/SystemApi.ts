/** The public routes of the edge: description, reference page and health (doc 1, What the service does; A1-55). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { TooManyRequests, Unavailable } from "./WireErrors.ts"

const description = Schema.Record(Schema.String, Schema.Json).annotate({ description: "OpenAPI 3.1 document." })

/** Refusals of public pages: the address has used up its share, or too many pages are being sent. */
const crowded = [TooManyRequests, Unavailable] as const

/** Answer of GET /healthz. */
export const Health = Schema.Struct({
  status: Schema.Literal("ok"),
  version: Schema.String,
  time: Schema.Int.annotate({ description: "Unix ms." })
}).annotate({ identifier: "Health", examples: [{ status: "ok", version: "1.0.0", time: 1_795_000_000_000 }] })

export class SystemApi extends HttpApiGroup.make("system")
  .add(
    HttpApiEndpoint.get("healthz", "/healthz", { success: Health, error: Unavailable }).annotateMerge(
      OpenApi.annotations({
        summary: "Whether the service and its database answer",
        description: "Without a key. 503 while the database is away."
      })
    ),
    HttpApiEndpoint.get("openapi", "/openapi.json", { success: description, error: crowded }).annotateMerge(
      OpenApi.annotations({ summary: "This description", description: "Without a key; with an ETag." })
    ),
    HttpApiEndpoint.get("partnerOpenapi", "/partner/openapi.json", {
      success: description,
      error: crowded
    }).annotateMerge(
      OpenApi.annotations({
        summary: "This description, from the router",
        description: "Without a key; byte for byte what /openapi.json answers."
      })
    ),
    HttpApiEndpoint.get("docs", "/docs", {
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/html" })),
      error: crowded
    }).annotateMerge(
      OpenApi.annotations({
        summary: "The rendered reference",
        description: "This description as a page, with a console that sends requests. It loads nothing from elsewhere."
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "System", description: "Public routes." })) {}
