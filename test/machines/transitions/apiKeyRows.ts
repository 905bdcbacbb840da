/** The transition table D17 as literal rows. */
import { rowsOf, type TransitionRow } from "./TransitionRow.ts"

const revoke = { type: "REVOKE", at: 5, reason: "rotated" }
const key = rowsOf({ keyId: 6, createdAt: 1 })

export const apiKeyRows: ReadonlyArray<TransitionRow> = [
  key("D17: ACTIVE, revoke, REVOKED", "ACTIVE", [], revoke, "REVOKED", ["audit key.revoke"], { revokedAt: 5 }),
  key("D17: REVOKED, revoke again", "REVOKED", [revoke], revoke, "refused")
]
