/** How a route introduces itself in the OpenAPI document. */
import { OpenApi } from "effect/http-api"

/** The annotation of a route: one line, and what a caller must know beyond it. */
export const summary = (text: string, description?: string) =>
  OpenApi.annotations({ summary: text, ...(description === undefined ? {} : { description }) })
