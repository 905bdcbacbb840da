/** The public routes of the edge: description, reference page and health (doc 1, What the service does; A1-55). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Unavailable } from "./WireErrors.ts"

const description = Schema.Record(Schema.String, Schema.Json).annotate({ description: "OpenAPI 3.1 document." })

/** GET /healthz. */
export const Health = Schema.Struct({
  status: Schema.Literal("ok"),
  version: Schema.String,
  time: Schema.Int.annotate({ description: "Unix ms." })
}).annotate({ identifier: "Health" })

export class SystemApi extends HttpApiGroup.make("system")
  .add(
    HttpApiEndpoint.get("healthz", "/healthz", { success: Health, error: Unavailable }).annotateMerge(
      OpenApi.annotations({ summary: "Whether the service and its database answer" })
    ),
    HttpApiEndpoint.get("openapi", "/openapi.json", { success: description }).annotateMerge(
      OpenApi.annotations({ summary: "This description" })
    ),
    HttpApiEndpoint.get("partnerOpenapi", "/partner/openapi.json", { success: description }).annotateMerge(
      OpenApi.annotations({ summary: "This description, from the router" })
    ),
    HttpApiEndpoint.get("docs", "/docs", {
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/html" }))
    }).annotateMerge(OpenApi.annotations({ summary: "The rendered reference" }))
  )
  .annotateMerge(OpenApi.annotations({ title: "System", description: "Public routes." })) {}
