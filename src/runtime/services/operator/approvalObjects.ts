/** Which object a command that waits for a second operator key is about, as its arguments name it (operator surface, Four eyes). */
import { isKind, type Kind } from "../../../machines/registry.ts"
import type { ApprovalRow } from "../../store/tables/operator.ts"

export interface ObjectName {
  readonly kind: Kind
  readonly id: string
}

/** By argument, what is nearest first: a client or a partner only where nothing of theirs is named. */
const kindOfArgument = [
  ["requestId", "withdrawalRequest"],
  ["breakId", "reconBreak"],
  ["swapId", "swap"],
  ["closeOutId", "closeOut"],
  ["client", "client"],
  ["partner", "partner"]
] as const satisfies ReadonlyArray<readonly [argument: string, kind: Kind]>

/** Null: the arguments name none. */
export const objectOfApproval = ({ args }: Pick<ApprovalRow, "args">): ObjectName | null => {
  const [named = "", ...rest] = typeof args["object"] === "string" ? args["object"].split(":") : []
  // A contract is called so for short (venue resolve).
  const given = named === "contract" ? "barrierContract" : named
  if (isKind(given)) return { kind: given, id: rest.join(":") }
  for (const [argument, kind] of kindOfArgument) {
    const id = args[argument]
    if (typeof id === "string" || typeof id === "number") return { kind, id: String(id) }
  }
  return null
}
