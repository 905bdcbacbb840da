// The published OpenAPI document, made from the contract (doc 1: /openapi.json, /partner/openapi.json). What HttpApi
// can't say by itself is added here: HEAD beside GET is implied by HTTP, headers of answers are not.
import { OpenApi } from "effect/http-api"
import { PartnerApi } from "./PartnerApi.ts"

/** The document as a plain value; made anew on each call, so keep it. */
export const openApiDocument = (): OpenApi.OpenAPISpec => OpenApi.fromApi(PartnerApi)

/** The document as the bytes that are served and kept in docs/openapi.json. */
export const openApiText = (): string => `${JSON.stringify(openApiDocument(), null, 2)}\n`
