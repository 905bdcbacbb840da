/**
 * The life of an API key, the same for partner keys (pbk_) and operator keys (bok_). Hash, label, scope and last use are
 * columns beside the machine: using a key is no transition (doc 1, Authentication; D17).
 */
export const apiKeyStatuses = ["ACTIVE", "REVOKED"] as const
export type ApiKeyStatus = (typeof apiKeyStatuses)[number]

export interface ApiKeyInput {
  readonly keyId: number
  readonly createdAt: number
}

export interface ApiKeyContext extends ApiKeyInput {
  readonly revokedAt: number | null
  readonly reason: string | null
}

export interface ApiKeyEvent {
  readonly type: "REVOKE"
  readonly at: number
  readonly reason: string
}
