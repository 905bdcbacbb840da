/**
 * Granted commands between the commit of the grant and their own, each with the operator keys that requested it and
 * that let it run. A revocation of either key claims the approval's unique fact first: so either the command takes
 * effect before the revocation, or never. In memory, because only one process decides for a database (the writer
 * epoch), and no granted command survives a restart.
 */
import type { ActorHost } from "../../../engine/mailbox/ActorHost.ts"

/** The keys that a granted command depends on. */
export interface Running {
  readonly requestedBy: number
  readonly grantedBy: number
}

const running = new WeakMap<ActorHost["Service"], Map<number, Running | null>>()

/** By approval; null until a turn has granted it: before that, the revocation of a key alone prevents the grant. */
export const runningApprovals = (host: ActorHost["Service"]): Map<number, Running | null> => {
  let approvals = running.get(host)
  if (approvals === undefined) running.set(host, (approvals = new Map()))
  return approvals
}

/** The unique fact that an approval is used: claimed by its command's commit, or by its refusal (owner 0). */
export const usedFact = (approvalId: number): string => `approval:${approvalId}`
