/**
 * Granted commands on their way: between the commit of the grant and the one of the command, each with the operator keys
 * that asked for it and that let it run. A revocation of either takes their unique fact first, so that either the command
 * takes effect before the key is revoked, or never (operator surface, Four eyes). In memory, because only one process
 * decides for a database (the writer epoch), and a start leaves none on its way.
 */
import type { ActorHost } from "../../../engine/mailbox/ActorHost.ts"

/** Whose keys a command on its way rests on. */
export interface Running {
  readonly requestedBy: number
  readonly grantedBy: number
}

const running = new WeakMap<ActorHost["Service"], Map<number, Running | null>>()

/** By approval; null until a turn has granted it: before, the revocation of a key refuses the grant by itself. */
export const runningApprovals = (host: ActorHost["Service"]): Map<number, Running | null> => {
  let approvals = running.get(host)
  if (approvals === undefined) running.set(host, (approvals = new Map()))
  return approvals
}

/** The unique fact that an approval is used: by the commit of its command, or by a refusal of it (owner 0). */
export const usedFact = (approvalId: number): string => `approval:${approvalId}`
