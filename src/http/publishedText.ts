/** The published OpenAPI document, as `npm run generate` writes it; a test compares it with the contract (A1-01). */
import { readFileSync } from "node:fs"

/** Reads docs/openapi.json. To build the document from the contract takes half a second of each start. */
export const publishedText = (): string => readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8")
