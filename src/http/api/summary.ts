/** Annotates a route with its texts for the OpenAPI document. */
import { OpenApi } from "effect/http-api"

/** A one-line summary, and a description of additional rules. */
export const summary = (text: string, description?: string) =>
  OpenApi.annotations({ summary: text, ...(description === undefined ? {} : { description }) })
