/** Annotates a route with its texts for the OpenAPI document. */
import { OpenApi } from "effect/http-api"

/** The annotation of a route with a one-line summary and, if given, a description of its further rules. */
export const summary = (text: string, description?: string) =>
  OpenApi.annotations({ summary: text, ...(description === undefined ? {} : { description }) })
