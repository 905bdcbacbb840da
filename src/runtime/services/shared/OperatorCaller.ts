/** The operator behind a command, and the subject of commands that belong to no client or partner. */
import type { Instance } from "../../effects/Instance.ts"
import type { Attribution } from "../../engine/mailbox/ActorHost.ts"
import type { OperatorKeyRow } from "../../tables/operator.ts"

export type OperatorRole = OperatorKeyRow["role"]

/** Partners may see the role; the label appears in the audit only. */
export interface OperatorCaller {
  readonly keyId: number
  readonly role: OperatorRole
  readonly by: Attribution
}

/** The caller of a request under an operator key. */
export const operatorCaller = (key: OperatorKeyRow, requestId: string): OperatorCaller => ({
  keyId: key.id,
  role: key.role,
  by: { role: key.role, keyLabel: key.label, requestId, actor: key.role }
})

export const systemSubject = "system"
export const systemInstance: Instance = { partnerId: null, clientId: null }
