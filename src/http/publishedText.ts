/** The published OpenAPI documents, as `npm run generate` writes them; a test compares them with the contracts (A1-01). */
import { readFileSync } from "node:fs"

const documents = { partner: "openapi.json", direct: "openapi-direct.json" } as const

/** Reads a document from docs. To build the partners' document from the contract takes half a second of each start. */
export const publishedText = (of: keyof typeof documents = "partner"): string =>
  readFileSync(new URL(`../../docs/${documents[of]}`, import.meta.url), "utf8")
