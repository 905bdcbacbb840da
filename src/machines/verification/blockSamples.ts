/**
 * One event per side of every guard of the block machine: path tests and diagrams use them. Some guards depend on the block
 * code in the context, so the registry walks the machine from each of `blockInputs` (D3).
 */
import type { BlockEvent, BlockInput } from "./Block.ts"

export const blockInputs: ReadonlyArray<BlockInput> = [
  { code: "IDENTIFICATION" },
  { code: "PERSONAL_INFO" },
  { code: "APPROPRIATENESS" }
]

export const blockSamples: ReadonlyArray<BlockEvent> = [
  { type: "PARTNER_WRITE", at: 1 },
  { type: "DRAFT", at: 1 },
  { type: "SUBMIT", at: 1 },
  { type: "APPROVE", at: 1, by: "COMPLIANCE" },
  { type: "REJECT", at: 1, by: "COMPLIANCE", reason: "The document cannot be read." },
  { type: "REJECT_RELIANCE", at: 1, by: "COMPLIANCE", reason: "The identity session is missing." },
  { type: "EXPIRE", at: 1, expiresOn: "2026-01-31", today: "2026-02-01" },
  { type: "EXPIRE", at: 1, expiresOn: "2026-01-31", today: "2026-01-31" },
  { type: "ASSESSED", at: 1, outcome: "PASS" },
  { type: "ASSESSED", at: 1, outcome: "WARN" },
  { type: "ASSESSED", at: 1, outcome: "FAIL" },
  { type: "ACKNOWLEDGED", at: 1 },
  { type: "DOWNGRADED", at: 1, by: "ADMIN", reason: "asked by the client" }
]
