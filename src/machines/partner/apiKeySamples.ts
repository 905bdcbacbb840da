/** The one event of the API key machine: path tests and diagrams use it (D17). */
import type { ApiKeyEvent, ApiKeyInput } from "./ApiKey.ts"

export const apiKeyInput: ApiKeyInput = { keyId: 1, createdAt: 0 }

export const apiKeySamples: ReadonlyArray<ApiKeyEvent> = [{ type: "REVOKE", at: 1, reason: "rotated" }]
