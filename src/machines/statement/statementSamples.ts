/** The events of a statement: path tests and diagrams use them (D20). */
import type { StatementEvent, StatementInput } from "./Statement.ts"

export const statementInput: StatementInput = {
  statementId: 1,
  clientId: 1,
  clientUid: "CL-00000001",
  kind: "ACCOUNT",
  periodFrom: 0,
  periodTo: 86_400_000,
  currency: "USDC",
  version: 1,
  supersedes: null,
  sha256: "0".repeat(64),
  rows: 0,
  renderer: 1,
  correctionReason: null,
  facts: "account/1"
}

export const statementSamples: ReadonlyArray<StatementEvent> = [
  { type: "GENERATE", at: 86_400_001, by: "PARTNER" },
  { type: "SUPERSEDE", supersededBy: 2, reason: null }
]
