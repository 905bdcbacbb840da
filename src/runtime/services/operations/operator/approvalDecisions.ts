/** Decisions on a four-eyes approval in the system's mailbox: request, grant, refusal and repeated grant. */
import canonicalize from "canonicalize"
import { createHash } from "node:crypto"
import type { JsonObject } from "../../../../machines/shared/Json.ts"
import { type ApprovalEvent, requestNote } from "../../../../machines/operator/Approval.ts"
import { accept, conflict, refuse, type Refusal, type Verdict } from "../../../../machines/shared/Refusal.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../../engine/mailbox/SubjectState.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import type { ApprovalRow } from "../../../tables/operator.ts"
import { systemInstance } from "../../shared/OperatorCaller.ts"
import { advance, start } from "../../../effects/advance.ts"

/** The time until a request expires without a grant, ms. */
export const approvalMillis = 7 * 86_400_000

/** SHA-256 of the canonical JSON, so that the order of the arguments does not matter. */
export const hashArguments = (args: JsonObject): string =>
  createHash("sha256")
    .update(canonicalize(args) ?? "")
    .digest("hex")

/**
 * The approval that a command waits for. A pending approval with the same command and arguments is reused, even if
 * another key requests the command, so that one step never has two granted approvals. An approval whose requesting
 * key has been revoked is not reused, because it can't be granted.
 */
export const requestApproval = (turn: Turn, keyId: number, command: string, args: JsonObject): number => {
  const argumentsHash = hashArguments(args)
  const waiting = turn.state
    .all("approvals")
    .find(
      (row) =>
        row.state === "PENDING" &&
        row.command === command &&
        row.context.argumentsHash === argumentsHash &&
        hashArguments(row.args) === argumentsHash &&
        turn.now < row.context.expiresAt &&
        isLiveKey(turn.state, row.requestedBy)
    )
  if (waiting !== undefined) return waiting.id
  const id = turn.nextId("approval")
  start(turn, "approvals", {
    input: {
      approvalId: id,
      command,
      argumentsHash,
      requestedBy: keyId,
      requestedAt: turn.now,
      expiresAt: turn.now + approvalMillis
    },
    columns: { id, command, args, requestedBy: keyId, requestedAt: turn.now }
  })
  return id
}

/**
 * Rules on an approval. The mailbox holds PENDING approvals only, so a missing one is already decided. `barred` returns the
 * refusal of a ruling now, or null.
 */
export const ruleOnApproval = (
  turn: Turn,
  approvalId: number,
  keyId: number,
  event: (row: ApprovalRow, at: number) => ApprovalEvent,
  barred?: (row: ApprovalRow) => Refusal | null
): Verdict<ApprovalRow> => {
  const row = turn.state.get("approvals", String(approvalId))
  if (row === undefined) return refuse(decidedAlready)
  const { context } = row
  if (turn.now >= context.expiresAt) {
    advance(turn, "approvals", row, { type: "EXPIRE", at: turn.now })
    return refuse(expired)
  }
  const refusal = barred?.(row) ?? null
  if (refusal !== null) return refuse(refusal)
  const next = advance(turn, "approvals", row, event(row, turn.now))
  if (next !== null) return accept(next)
  return refuse(context.requestedBy === keyId ? ownRequest : changedArguments)
}

export const decidedAlready = conflict("APPROVAL_DECIDED", "This approval is decided already.")
const expired = conflict("APPROVAL_EXPIRED", "This approval has expired: ask for the command again.")
const ownRequest = conflict("OWN_REQUEST", "The operator key that requested the command can't grant it.")
const changedRequester = conflict(
  "APPROVAL_ALTERED",
  "The stored requester of this approval has been changed: it can't be granted."
)
const changedArguments = conflict(
  "APPROVAL_ALTERED",
  "The arguments of this approval have changed: it can't be granted."
)
export const revokedRequester = conflict(
  "REQUESTER_REVOKED",
  "The operator key that requested the command is revoked: request it again with another key."
)

export const revokedGranter = conflict(
  "GRANTER_REVOKED",
  "The operator key that granted the command is revoked: what it let through does not run."
)

/** True if the key exists and is not revoked. `state`: the system mailbox, which holds all operator keys. */
export const isLiveKey = (state: SubjectState, keyId: number): boolean =>
  state.get("operatorKeys", String(keyId))?.state === "ACTIVE"

/**
 * The reason why `keyId` can't grant the command. The key may have been revoked since the gate admitted it. `recorded`
 * is the note in the audit row of the request; older services recorded only the command's name, or no requester.
 */
export const grantRefusal = (
  turn: Turn,
  { command, args, requestedBy, context }: ApprovalRow,
  keyId: number,
  recorded: string | null
): Refusal | null => {
  if (!isLiveKey(turn.state, requestedBy)) return revokedRequester
  if (!isLiveKey(turn.state, keyId)) return revokedGranter
  if (context.requestedBy !== requestedBy) return changedRequester
  const argumentsHash = hashArguments(args)
  const bound = `${command} ${argumentsHash}`
  if (recorded === command || recorded === bound || recorded === requestNote({ command, argumentsHash, requestedBy }))
    return null
  return recorded?.startsWith(`${bound} `) === true ? changedRequester : changedArguments
}

/** Grants a pending approval. Refused if a key is revoked, or if the stored arguments are not those that were requested. */
export const grantApproval = (
  turn: Turn,
  approvalId: number,
  keyId: number,
  recorded: string | null
): Verdict<ApprovalRow> =>
  ruleOnApproval(
    turn,
    approvalId,
    keyId,
    ({ args }, at) => ({ type: "GRANT", at, by: keyId, argumentsHash: hashArguments(args) }),
    (row) => grantRefusal(turn, row, keyId, recorded)
  )

/**
 * Grants an approval again whose command did not run. The audit then has both keys: the one that granted it first, and this
 * one.
 */
export const resumeApproval = (
  turn: Turn,
  row: ApprovalRow,
  keyId: number,
  recorded: string | null
): Verdict<ApprovalRow> => {
  const { requestedBy, expiresAt, argumentsHash } = row.context
  if (turn.now >= expiresAt) return refuse(expired)
  if (requestedBy === keyId) return refuse(ownRequest)
  const refusal = grantRefusal(turn, row, keyId, recorded)
  if (refusal !== null) return refuse(refusal)
  if (argumentsHash !== hashArguments(row.args)) return refuse(changedArguments)
  applyEffects(turn, { ...systemInstance, object: `approval:${row.id}` }, [
    { type: "audit", action: "approval.resume", before: "GRANTED", after: "GRANTED", reason: row.command }
  ])
  return accept(row)
}
